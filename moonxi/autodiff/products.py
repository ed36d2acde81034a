"""Products of a vector with the derivatives of a function, which themselves are never made: `vjp`, `jvp`, `hvp`."""

from collections.abc import Callable
from typing import Any, overload

from moonxi import shapes
from moonxi.autodiff.applying import applied, number, pulled, same_level
from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.image import ImageGrad
from moonxi.autodiff.lift import constant, variable
from moonxi.autodiff.tensor import Grad
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


@overload
def vjp[T: ImageModelTensor](f: Callable[[ImageGrad[T]], Grad[T]], x: T, cotangent: T, /) -> tuple[T, T]: ...
@overload
def vjp[T: MlpTensor](f: Callable[[BlasGrad[T]], Grad[T]], x: T, cotangent: T, /) -> tuple[T, T]: ...
@overload
def vjp[T: Tensor](f: Callable[[Grad[T]], Grad[T]], x: T, cotangent: T, /) -> tuple[T, T]: ...
@overload
def vjp[T: Tensor, G: Tensor](
    f: Callable[[G], Grad[T]], x: T, cotangent: T, /, *, variable: Callable[[T], G]
) -> tuple[T, T]: ...
def vjp(f: Any, x: Any, cotangent: Any, /, *, variable: Any = variable) -> object:  # the overloads are the signature
    """The value ``f(x)``, and its cotangent times the Jacobian: what backward propagation computes.

    ``cotangent`` has the shape of ``f(x)``, the product that of ``x``. Costs one call and one backward pass.
    For ``variable`` see `grad`."""
    same_level("vjp", "cotangent", x, cotangent)
    z = variable(x)
    result = applied("vjp", f, z)
    shapes.equal("vjp (result and cotangent)", result.shape, cotangent.shape)
    return result.value, pulled(result, cotangent, z)[0]


@overload
def jvp[T: ImageModelTensor](
    f: Callable[[ImageGrad[ImageGrad[T]]], Grad[ImageGrad[T]]], x: T, tangent: T, /
) -> tuple[T, T]: ...
@overload
def jvp[T: MlpTensor](f: Callable[[BlasGrad[BlasGrad[T]]], Grad[BlasGrad[T]]], x: T, tangent: T, /) -> tuple[T, T]: ...
@overload
def jvp[T: Tensor](f: Callable[[Grad[Grad[T]]], Grad[Grad[T]]], x: T, tangent: T, /) -> tuple[T, T]: ...
def jvp(f: Any, x: Any, tangent: Any, /) -> object:  # the overloads are the signature
    """The value ``f(x)``, and the Jacobian times its tangent: the derivative of ``f`` at ``x`` in one direction.

    ``tangent`` has the shape of ``x``, the product that of ``f(x)``. There is no forward mode: ``u J`` is linear in
    ``u``, and its gradient with respect to ``u``, in the direction of the tangent, is the product. That costs one call
    and two backward passes, and keeps the graph of the call, which forward mode would not."""
    same_level("jvp", "tangent", x, tangent)
    shapes.equal("jvp (point and tangent)", x.shape, tangent.shape)
    z = variable(constant(x))
    result = applied("jvp", f, z)
    value: Any = result.value
    u = variable(value.value.zeros(result.shape))
    (product,) = pulled(result, u, z)
    return value.value, pulled(product, tangent, u)[0]


@overload
def hvp[T: ImageModelTensor](f: Callable[[ImageGrad[ImageGrad[T]]], Grad[ImageGrad[T]]], x: T, vector: T, /) -> T: ...
@overload
def hvp[T: MlpTensor](f: Callable[[BlasGrad[BlasGrad[T]]], Grad[BlasGrad[T]]], x: T, vector: T, /) -> T: ...
@overload
def hvp[T: Tensor](f: Callable[[Grad[Grad[T]]], Grad[Grad[T]]], x: T, vector: T, /) -> T: ...
def hvp(f: Any, x: Any, vector: Any, /) -> object:  # the overloads are the signature
    """The Hessian of ``f``, a function to one number, at ``x``, times a vector of the shape of ``x``.

    The gradient of the gradient's inner product with the vector (Pearlmutter 1994): two backward passes, no matrix."""
    same_level("hvp", "vector", x, vector)
    shapes.equal("hvp (point and vector)", x.shape, vector.shape)
    inner = variable(x)
    outer = variable(inner)
    (gradient,) = pulled(number("hvp", applied("hvp", f, outer)), None, outer)
    return pulled(gradient, vector, inner)[0]
