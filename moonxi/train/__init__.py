"""Training: the loop, with what people expect around it."""

from moonxi.train.batches import Batches, BatchOf
from moonxi.train.callback import Callback, Run
from moonxi.train.checkpoint import Checkpoint
from moonxi.train.checkpoints import Checkpoints
from moonxi.train.early_stopping import EarlyStopping
from moonxi.train.environment import threads
from moonxi.train.history import EpochRecord, History
from moonxi.train.logs import CsvLog, JsonLinesLog
from moonxi.train.trainer import Trainer

__all__ = [
    "BatchOf",
    "Batches",
    "Callback",
    "Checkpoint",
    "Checkpoints",
    "CsvLog",
    "EarlyStopping",
    "EpochRecord",
    "History",
    "JsonLinesLog",
    "Run",
    "Trainer",
    "threads",
]
