"""Optimizers: pure functions from a model, its gradients and a state to the next model and state."""

from moonxi.optim.adam import Adam
from moonxi.optim.clipping import clip_by_global_norm, global_norm
from moonxi.optim.optimizer import Optimizer, OptimizerState, Trainable
from moonxi.optim.schedules import Schedule, constant, step_decay
from moonxi.optim.sgd import Sgd

__all__ = [
    "Adam",
    "Optimizer",
    "OptimizerState",
    "Schedule",
    "Sgd",
    "Trainable",
    "clip_by_global_norm",
    "constant",
    "global_norm",
    "step_decay",
]
