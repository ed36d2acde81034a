"""`grad`: the gradient of a function to one number."""

from collections.abc import Callable
from typing import Any, overload

from moonxi.autodiff import lift
from moonxi.autodiff.applying import applied, number, pulled
from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.image import ImageGrad
from moonxi.autodiff.tensor import Grad
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


@overload
def grad[T: ImageModelTensor](f: Callable[[ImageGrad[T]], Grad[T]], x: T, /) -> T: ...
@overload
def grad[T: ImageModelTensor](f: Callable[[ImageGrad[T], ImageGrad[T]], Grad[T]], x: T, y: T, /) -> tuple[T, T]: ...
@overload
def grad[T: ImageModelTensor](
    f: Callable[[ImageGrad[T], ImageGrad[T], ImageGrad[T]], Grad[T]], x: T, y: T, z: T, /
) -> tuple[T, T, T]: ...
@overload
def grad[T: MlpTensor](f: Callable[[BlasGrad[T]], Grad[T]], x: T, /) -> T: ...
@overload
def grad[T: MlpTensor](f: Callable[[BlasGrad[T], BlasGrad[T]], Grad[T]], x: T, y: T, /) -> tuple[T, T]: ...
@overload
def grad[T: MlpTensor](
    f: Callable[[BlasGrad[T], BlasGrad[T], BlasGrad[T]], Grad[T]], x: T, y: T, z: T, /
) -> tuple[T, T, T]: ...
@overload
def grad[T: Tensor](f: Callable[[Grad[T]], Grad[T]], x: T, /) -> T: ...
@overload
def grad[T: Tensor](f: Callable[[Grad[T], Grad[T]], Grad[T]], x: T, y: T, /) -> tuple[T, T]: ...
@overload
def grad[T: Tensor](f: Callable[[Grad[T], Grad[T], Grad[T]], Grad[T]], x: T, y: T, z: T, /) -> tuple[T, T, T]: ...
@overload
def grad[T: Tensor, G: Tensor](f: Callable[[G], Grad[T]], x: T, /, *, variable: Callable[[T], G]) -> T: ...
@overload
def grad[T: Tensor, G: Tensor](
    f: Callable[[G, G], Grad[T]], x: T, y: T, /, *, variable: Callable[[T], G]
) -> tuple[T, T]: ...
@overload
def grad[T: Tensor, G: Tensor](
    f: Callable[[G, G, G], Grad[T]], x: T, y: T, z: T, /, *, variable: Callable[[T], G]
) -> tuple[T, T, T]: ...
def grad(f: Any, /, *inputs: Any, variable: Any = lift.variable) -> object:  # the overloads are the signature
    """The gradient of ``f(x)``, one number, at ``x``: a tensor of the shape of ``x``; of several inputs one for each.

    Where ``f`` does not depend on an input, zeros. An input that takes no part is closed over as ``constant(y)``. The
    result is a function of tensors of any level, so it is differentiated again: ``grad(lambda x: grad(f, x), x)``.
    Raises `GradientError` unless ``f`` gives one number, computed from what it gets. For operations of your own,
    ``variable`` is that of your class of tensors under differentiation: ``MyGrad.variable``."""
    variables = tuple(variable(x) for x in inputs)
    gradients = pulled(number("grad", applied("grad", f, *variables)), None, *variables)
    return gradients[0] if len(inputs) == 1 else gradients
