"""Whole matrices of derivatives: `jacobian` and `hessian`."""

from collections.abc import Callable
from itertools import product
from typing import Any, overload

from moonxi import shapes
from moonxi.autodiff.applying import applied, number, pulled
from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.image import ImageGrad
from moonxi.autodiff.lift import variable
from moonxi.autodiff.tensor import Grad
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


@overload
def jacobian[T: ImageModelTensor](f: Callable[[ImageGrad[T]], Grad[T]], x: T, /) -> T: ...
@overload
def jacobian[T: MlpTensor](f: Callable[[BlasGrad[T]], Grad[T]], x: T, /) -> T: ...
@overload
def jacobian[T: Tensor](f: Callable[[Grad[T]], Grad[T]], x: T, /) -> T: ...
@overload
def jacobian[T: Tensor, G: Tensor](f: Callable[[G], Grad[T]], x: T, /, *, variable: Callable[[T], G]) -> T: ...
def jacobian(f: Any, x: Any, /, *, variable: Any = variable) -> object:  # the overloads are the signature
    """The derivatives of each element of ``f(x)`` with respect to each of ``x``: of shape ``f(x).shape + x.shape``.

    One call of ``f``, and a backward pass for each element of its result. For ``variable`` see `grad`."""
    z = variable(x)
    return _rows(applied("jacobian", f, z), z)


@overload
def hessian[T: ImageModelTensor](f: Callable[[ImageGrad[ImageGrad[T]]], Grad[ImageGrad[T]]], x: T, /) -> T: ...
@overload
def hessian[T: MlpTensor](f: Callable[[BlasGrad[BlasGrad[T]]], Grad[BlasGrad[T]]], x: T, /) -> T: ...
@overload
def hessian[T: Tensor](f: Callable[[Grad[Grad[T]]], Grad[Grad[T]]], x: T, /) -> T: ...
def hessian(f: Any, x: Any, /) -> object:  # the overloads are the signature
    """The second derivatives of ``f``, a function to one number: of shape ``x.shape + x.shape``.

    One call of ``f``, and one backward pass more than ``x`` has elements; for a product with a vector see `hvp`."""
    inner = variable(x)
    outer = variable(inner)
    (gradient,) = pulled(number("hessian", applied("hessian", f, outer)), None, outer)
    return _rows(gradient, inner)


def _rows[T: Tensor](result: Grad[T], z: Grad[T]) -> T:
    """The gradient of each element of the result."""
    whole = (*result.shape, *z.shape)
    if result.parents is None:
        return z.value.zeros(whole)
    if not shapes.known(*result.shape):  # of symbolic sizes there are no elements to tell one from another
        return pulled(result, result.value.ones(result.shape), z)[0].broadcast_to(whole)
    one = z.value.ones(())
    seeds = (one.put_slice(index, result.shape) for index in product(*map(range, result.shape)))
    rows = [pulled(result, seed, z)[0] for seed in seeds]
    return rows[0].stack(*rows[1:], axis=0).reshape(whole) if rows else z.value.zeros(whole)
