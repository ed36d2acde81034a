"""Optimizers: pure functions from a model, its gradients and a state to the next model and state."""

from moonxi.optim.adam import Adam, AdamW
from moonxi.optim.clipping import clip_by_global_norm, clip_by_value, global_norm
from moonxi.optim.optimizer import Optimizer, RuleOptimizer
from moonxi.optim.predicate import Predicate, matrices, named
from moonxi.optim.schedules import Schedule, constant, step_decay
from moonxi.optim.sgd import Sgd
from moonxi.optim.updating import OptimizerState, Trainable

__all__ = [
    "Adam",
    "AdamW",
    "Optimizer",
    "OptimizerState",
    "Predicate",
    "RuleOptimizer",
    "Schedule",
    "Sgd",
    "Trainable",
    "clip_by_global_norm",
    "clip_by_value",
    "constant",
    "global_norm",
    "matrices",
    "named",
    "step_decay",
]
