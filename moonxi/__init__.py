"""moonxi: deep learning in typed Python, for people who care about correctness and speed.

Names are imported when they are first used, so that ``import moonxi`` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moonxi import autodiff, data, losses, nn, optim, traits
    from moonxi.autodiff import BlasGrad, Grad, Gradients, constant, variable
    from moonxi.backends.cupy import GpuTensor, gpu
    from moonxi.backends.numpy import NpArray, numpy
    from moonxi.dtypes import BF16, F16, F32, F64
    from moonxi.key import Key
    from moonxi.traits import BlasTensor, Labels, Mask, MlpTensor, Tensor

_SUBMODULES = ("autodiff", "data", "losses", "nn", "optim", "traits")
_HOMES = {
    "moonxi.autodiff": ("BlasGrad", "Grad", "Gradients", "constant", "variable"),
    "moonxi.backends.cupy": ("GpuTensor", "gpu"),
    "moonxi.backends.numpy": ("NpArray", "numpy"),
    "moonxi.dtypes": ("BF16", "F16", "F32", "F64"),
    "moonxi.key": ("Key",),
    "moonxi.traits": ("BlasTensor", "Labels", "Mask", "MlpTensor", "Tensor"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_SUBMODULES, *_HOME]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"moonxi.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'moonxi' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
