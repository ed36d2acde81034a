"""Calling a function that is to be differentiated, and what is said of a result that cannot be."""

from collections.abc import Callable
from math import prod
from typing import Any

from moonxi import shapes
from moonxi.autodiff import levels
from moonxi.autodiff.node import Node
from moonxi.autodiff.tensor import Grad
from moonxi.errors import GradientError, OperandError
from moonxi.traits import Tensor


def applied[T: Tensor](operation: str, f: Callable[..., Any], *arguments: Grad[T]) -> Grad[T]:
    """``f(*arguments)``. Raises `GradientError` unless that is under differentiation as the arguments are."""
    result = f(*arguments)
    if isinstance(result, Grad) and levels.depth(result) == levels.depth(arguments[0]):
        return result
    raise GradientError(
        f"{operation}: the function gave {levels.named(result)} for {levels.named(arguments[0])}: it must compute its "
        "result from its arguments, by operations of any tensor class; a plain tensor becomes one of these with "
        "constant(x)"
    )


def same_level(operation: str, what: str, x: object, vector: object) -> None:
    """Raise `OperandError` unless a vector is under as much differentiation as the point is."""
    if levels.depth(x) != levels.depth(vector):
        raise OperandError(
            f"{operation}: the {what} is {levels.named(vector)}, the point {levels.named(x)}: both must be at one "
            "level; bring one in with constant(x), or take the other out with x.value"
        )


def number[T: Tensor](operation: str, result: Grad[T]) -> Grad[T]:
    """The result of a function to one number. Raises `GradientError` for more."""
    if prod(result.shape) != 1:
        raise GradientError(
            f"{operation}: the function gave {shapes.show(result.shape)}: expected one number; reduce it with .sum() "
            "or .mean(), or use vjp or jacobian"
        )
    return result


def pulled[T: Tensor](result: Grad[T], cotangent: T | None, *variables: Node[T]) -> tuple[T, ...]:
    """The gradient of the result, or of its inner product with a cotangent, for each variable: zeros if constant."""
    if result.parents is None:
        return tuple(one.value.zeros(one.shape) for one in variables)
    gradients = result.backward(cotangent)
    return tuple(map(gradients.of, variables))
