"""Training: the loop, with what people expect around it."""

from moonxi.train.environment import threads
from moonxi.train.history import EpochRecord, History
from moonxi.train.trainer import Batches, BatchOf, Trainer

__all__ = ["BatchOf", "Batches", "EpochRecord", "History", "Trainer", "threads"]
