"""Optimizers: pure functions from a model, its gradients and a state to the next model and state."""

from moonxi.optim.accumulation import mean_gradients
from moonxi.optim.adagrad import Adagrad
from moonxi.optim.adam import Adam, AdamW
from moonxi.optim.clipping import clip_by_global_norm, clip_by_value, global_norm
from moonxi.optim.composition import chain, join
from moonxi.optim.ema import Ema, EmaState
from moonxi.optim.frozen import Unfrozen
from moonxi.optim.groups import Group, Grouped
from moonxi.optim.lamb import Lamb
from moonxi.optim.lbfgs import Lbfgs
from moonxi.optim.lion import Lion
from moonxi.optim.loss_scaling import LossScaled
from moonxi.optim.muon import Muon, orthogonalized
from moonxi.optim.nadam import NAdam
from moonxi.optim.optimizer import Optimizer, RuleOptimizer
from moonxi.optim.plateau import Plateau, PlateauState
from moonxi.optim.predicate import Predicate, matrices, named, weights, within
from moonxi.optim.rmsprop import RmsProp
from moonxi.optim.schedules import Schedule, constant, cosine, exponential, one_cycle, polynomial, step_decay, warm_up
from moonxi.optim.sgd import Sgd
from moonxi.optim.steps import Steps
from moonxi.optim.updating import MlpOptimizer, OptimizerState, Trainable

__all__ = [
    "Adagrad",
    "Adam",
    "AdamW",
    "Ema",
    "EmaState",
    "Group",
    "Grouped",
    "Lamb",
    "Lbfgs",
    "Lion",
    "LossScaled",
    "MlpOptimizer",
    "Muon",
    "NAdam",
    "Optimizer",
    "OptimizerState",
    "Plateau",
    "PlateauState",
    "Predicate",
    "RmsProp",
    "RuleOptimizer",
    "Schedule",
    "Sgd",
    "Steps",
    "Trainable",
    "Unfrozen",
    "chain",
    "clip_by_global_norm",
    "clip_by_value",
    "constant",
    "cosine",
    "exponential",
    "global_norm",
    "join",
    "matrices",
    "mean_gradients",
    "named",
    "one_cycle",
    "orthogonalized",
    "polynomial",
    "step_decay",
    "warm_up",
    "weights",
    "within",
]
