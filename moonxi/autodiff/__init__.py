"""Reverse-mode differentiation, as an interpreter of the traits: `Grad[T]` computes with ``T`` and remembers how."""

from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.check import check_gradients
from moonxi.autodiff.checkpointing import checkpoint
from moonxi.autodiff.custom import custom_vjp
from moonxi.autodiff.differentiate import grad
from moonxi.autodiff.gradients import Gradients, Untracked, Value, Zero
from moonxi.autodiff.image import ImageGrad
from moonxi.autodiff.lift import constant, variable
from moonxi.autodiff.matrices import hessian, jacobian
from moonxi.autodiff.per_example import per_example_grad
from moonxi.autodiff.products import hvp, jvp, vjp
from moonxi.autodiff.tensor import Grad

__all__ = [
    "BlasGrad",
    "Grad",
    "Gradients",
    "ImageGrad",
    "Untracked",
    "Value",
    "Zero",
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
]
