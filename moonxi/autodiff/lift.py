"""From plain tensors to tensors under differentiation: the most capable class that the plain one allows."""

from collections.abc import Callable
from typing import overload

from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.image import ImageGrad
from moonxi.autodiff.tensor import Grad
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


@overload
def variable[T: ImageModelTensor](value: T, /) -> ImageGrad[T]: ...
@overload
def variable[T: MlpTensor](value: T, /) -> BlasGrad[T]: ...
@overload
def variable[T: Tensor](value: T, /) -> Grad[T]: ...
def variable(value: Tensor, /) -> object:
    """A tensor with respect to which to differentiate."""
    lifted = _lifted.get(type(value)) or _class_for(value)
    return lifted(value, ())


@overload
def constant[T: ImageModelTensor](value: T, /) -> ImageGrad[T]: ...
@overload
def constant[T: MlpTensor](value: T, /) -> BlasGrad[T]: ...
@overload
def constant[T: Tensor](value: T, /) -> Grad[T]: ...
def constant(value: Tensor, /) -> object:
    """A tensor that takes no part in differentiation: data, targets, masks."""
    lifted = _lifted.get(type(value)) or _class_for(value)
    return lifted(value, None)


def constants_beside[T: Tensor](variable: Callable[[T], Grad[T]], /) -> Callable[[T], Grad[T]]:
    """What makes constants, of the classes of which ``variable`` makes variables."""
    classes: dict[type[T], type[Grad[T]]] = {}

    def constant(value: T) -> "Grad[T]":  # what is not text is worked out at each call of the outer function
        cls = classes.get(type(value))
        if cls is None:
            cls = classes[type(value)] = type(variable(value))
        return cls.constant(value)

    return constant


_lifted: dict[type, Callable[..., object]] = {}
"""For each class of tensors that of its tensors under differentiation: to look through a Protocol takes longer."""


def _class_for(value: Tensor) -> Callable[..., object]:
    found: Callable[..., object] = Grad
    if isinstance(value, ImageModelTensor):
        found = ImageGrad
    elif isinstance(value, MlpTensor):
        found = BlasGrad
    _lifted[type(value)] = found
    return found
