"""`per_example_grad`: the gradient of each example's loss, not of their mean."""

from collections.abc import Callable
from typing import Any, overload

from moonxi import shapes
from moonxi.autodiff.applying import applied, number, pulled
from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.image import ImageGrad
from moonxi.autodiff.lift import constants_beside, variable
from moonxi.autodiff.tensor import Grad
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


@overload
def per_example_grad[T: ImageModelTensor](
    f: Callable[[ImageGrad[T], ImageGrad[T]], Grad[T]], x: T, examples: T, /
) -> T: ...
@overload
def per_example_grad[T: MlpTensor](f: Callable[[BlasGrad[T], BlasGrad[T]], Grad[T]], x: T, examples: T, /) -> T: ...
@overload
def per_example_grad[T: Tensor](f: Callable[[Grad[T], Grad[T]], Grad[T]], x: T, examples: T, /) -> T: ...
@overload
def per_example_grad[T: Tensor, G: Tensor](
    f: Callable[[G, G], Grad[T]], x: T, examples: T, /, *, variable: Callable[[T], G]
) -> T: ...
def per_example_grad(  # the overloads are the signature
    f: Any, x: Any, examples: Any, /, *, variable: Any = variable
) -> object:
    """The gradients of ``f(x, example)``, one number, with respect to ``x``, for each part of the first axis.

    ``examples`` of shape (n, ...) give a result of shape ``(n, *x.shape)``. Costs n calls and n backward passes, and
    keeps the graph of one example at a time. For ``variable`` see `grad`."""

    constant = constants_beside(variable)

    def row(example: Any) -> Any:
        z = variable(x)
        result = applied("per_example_grad", f, z, constant(example))
        return pulled(number("per_example_grad", result), None, z)[0]

    if examples.shape and not shapes.known(examples.shape[0]):  # any one stands for all
        return row(examples[0]).broadcast_to((*examples.shape[:1], *x.shape))
    rows = list(map(row, examples))
    return rows[0].stack(*rows[1:], axis=0) if rows else x.zeros((0, *x.shape))
