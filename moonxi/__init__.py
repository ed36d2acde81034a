"""moonxi: deep learning in typed Python, for people who care about correctness and speed.

Names are imported when they are first used, so that ``import moonxi`` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moonxi import autodiff as autodiff
    from moonxi import data as data
    from moonxi import errors as errors
    from moonxi import linalg as linalg
    from moonxi import losses as losses
    from moonxi import metrics as metrics
    from moonxi import nn as nn
    from moonxi import optim as optim
    from moonxi import train as train
    from moonxi import traits as traits
    from moonxi.autodiff import BlasGrad as BlasGrad
    from moonxi.autodiff import Grad as Grad
    from moonxi.autodiff import Gradients as Gradients
    from moonxi.autodiff import ImageGrad as ImageGrad
    from moonxi.autodiff import check_gradients as check_gradients
    from moonxi.autodiff import checkpoint as checkpoint
    from moonxi.autodiff import constant as constant
    from moonxi.autodiff import custom_vjp as custom_vjp
    from moonxi.autodiff import grad as grad
    from moonxi.autodiff import hessian as hessian
    from moonxi.autodiff import hvp as hvp
    from moonxi.autodiff import jacobian as jacobian
    from moonxi.autodiff import jvp as jvp
    from moonxi.autodiff import per_example_grad as per_example_grad
    from moonxi.autodiff import variable as variable
    from moonxi.autodiff import vjp as vjp
    from moonxi.backends.cupy import GpuTensor as GpuTensor
    from moonxi.backends.cupy import gpu as gpu
    from moonxi.backends.numpy import NpArray as NpArray
    from moonxi.backends.numpy import numpy as numpy
    from moonxi.compiled import CompileReport as CompileReport
    from moonxi.compiled import compile as compile
    from moonxi.compiled import compile_report as compile_report
    from moonxi.compiled import repeat as repeat
    from moonxi.data import DataLoader as DataLoader
    from moonxi.data import Labelled as Labelled
    from moonxi.data import Paired as Paired
    from moonxi.dtypes import BF16 as BF16
    from moonxi.dtypes import F16 as F16
    from moonxi.dtypes import F32 as F32
    from moonxi.dtypes import F64 as F64
    from moonxi.key import Key as Key
    from moonxi.linalg import einsum as einsum
    from moonxi.linalg import outer as outer
    from moonxi.linalg import tensordot as tensordot
    from moonxi.nn import Eval as Eval
    from moonxi.nn import Mode as Mode
    from moonxi.nn import Module as Module
    from moonxi.nn import State as State
    from moonxi.nn import Train as Train
    from moonxi.nn import value_and_grad as value_and_grad
    from moonxi.optim import Adam as Adam
    from moonxi.optim import AdamW as AdamW
    from moonxi.optim import OptimizerState as OptimizerState
    from moonxi.optim import Sgd as Sgd
    from moonxi.profiled import BlasProfiled as BlasProfiled
    from moonxi.profiled import ImageProfiled as ImageProfiled
    from moonxi.profiled import Profile as Profile
    from moonxi.profiled import Profiled as Profiled
    from moonxi.profiled import profile as profile
    from moonxi.shape_tensor import ShapeTensor as ShapeTensor
    from moonxi.train import Trainer as Trainer
    from moonxi.traits import BlasTensor as BlasTensor
    from moonxi.traits import ImageModelTensor as ImageModelTensor
    from moonxi.traits import ImageTensor as ImageTensor
    from moonxi.traits import Labels as Labels
    from moonxi.traits import Mask as Mask
    from moonxi.traits import MlpTensor as MlpTensor
    from moonxi.traits import Tensor as Tensor

_SUBMODULES = ("autodiff", "data", "errors", "linalg", "losses", "metrics", "nn", "optim", "train", "traits")
_HOMES = {
    "moonxi.autodiff": (
        "BlasGrad",
        "Grad",
        "Gradients",
        "ImageGrad",
        "check_gradients",
        "checkpoint",
        "constant",
        "custom_vjp",
        "grad",
        "hessian",
        "hvp",
        "jacobian",
        "jvp",
        "per_example_grad",
        "variable",
        "vjp",
    ),
    "moonxi.backends.cupy": ("GpuTensor", "gpu"),
    "moonxi.backends.numpy": ("NpArray", "numpy"),
    "moonxi.compiled": ("CompileReport", "compile", "compile_report", "repeat"),
    "moonxi.data": ("DataLoader", "Labelled", "Paired"),
    "moonxi.dtypes": ("BF16", "F16", "F32", "F64"),
    "moonxi.key": ("Key",),
    "moonxi.linalg": ("einsum", "outer", "tensordot"),
    "moonxi.nn": ("Eval", "Mode", "Module", "State", "Train", "value_and_grad"),
    "moonxi.optim": ("Adam", "AdamW", "OptimizerState", "Sgd"),
    "moonxi.profiled": ("BlasProfiled", "ImageProfiled", "Profile", "Profiled", "profile"),
    "moonxi.shape_tensor": ("ShapeTensor",),
    "moonxi.train": ("Trainer",),
    "moonxi.traits": ("BlasTensor", "ImageModelTensor", "ImageTensor", "Labels", "Mask", "MlpTensor", "Tensor"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__version__ = "0.1.0"


if not TYPE_CHECKING:  # or a checker takes any name for one that is there

    def __getattr__(name: str) -> object:
        if name in _SUBMODULES:
            return import_module(f"moonxi.{name}")
        if name not in _HOME:
            raise AttributeError(f"module 'moonxi' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_HOME})
