"""`custom_vjp`: a function with a gradient of one's own."""

from collections.abc import Callable
from typing import Any, overload

from moonxi import shapes
from moonxi.autodiff import levels
from moonxi.autodiff.tensor import Grad
from moonxi.autodiff.together import Share, Together
from moonxi.errors import GradientError
from moonxi.traits import Tensor


@overload
def custom_vjp[T: Tensor](forward: Callable[[T], T], backward: Callable[[T, T, T], T], x: T, /) -> T: ...
@overload
def custom_vjp[T: Tensor](
    forward: Callable[[T, T], T], backward: Callable[[T, T, T, T], tuple[T, T]], x: T, y: T, /
) -> T: ...
@overload
def custom_vjp[T: Tensor](
    forward: Callable[[T, T, T], T], backward: Callable[[T, T, T, T, T], tuple[T, T, T]], x: T, y: T, z: T, /
) -> T: ...
def custom_vjp(forward: Any, backward: Any, /, *inputs: Any) -> object:  # the overloads are the signature
    """``forward(x)``, whose gradient is ``backward(gradient, result, x)``; of several inputs a tuple of gradients.

    Both are functions of tensors of any level that hold no tensors: under differentiation they get the tensors below,
    so that nothing is recorded of ``forward``, and ``backward`` is differentiated for a second derivative. A gradient
    has the shape of its input, or else is a `GradientError` in the backward pass. Prove it with `check_gradients`."""
    if not any(isinstance(x, Grad) for x in inputs):
        return forward(*inputs)
    for x in inputs:
        if not isinstance(x, Grad):
            raise levels.differ("custom_vjp", next(one for one in inputs if isinstance(one, Grad)), x)
    return _recorded(forward, backward, inputs)


def _recorded[T: Tensor](
    forward: Callable[..., T], backward: Callable[..., Any], inputs: tuple[Grad[T], ...]
) -> Grad[T]:
    values = tuple(x.value for x in inputs)
    value: T = custom_vjp(forward, backward, *values)
    numbers = [number for number, x in enumerate(inputs) if x.parents is not None]

    def gradients(g: T) -> tuple[T, ...]:
        found = backward(g, value, *values)
        every = found if isinstance(found, tuple) else (found,)
        if len(every) != len(values):
            raise GradientError(f"custom_vjp: {len(every)} gradients for {len(values)} inputs: expected one for each")
        return tuple(_gradient(every[number], values[number], number) for number in numbers)

    together = Together(gradients)
    parents = tuple((inputs[number], Share("custom_vjp", together, place)) for place, number in enumerate(numbers))
    return type(inputs[0])(value, parents or None)


def _gradient[T: Tensor](found: object, x: T, number: int) -> T:
    """A gradient that ``backward`` gave, checked to be one of this input."""
    if not isinstance(found, type(x)) or levels.depth(found) != levels.depth(x):
        raise GradientError(
            f"custom_vjp: the gradient of input {number + 1} is {levels.named(found)}, the input {levels.named(x)}: "
            "compute it from what backward gets"
        )
    if found.shape != x.shape:
        raise GradientError(
            f"custom_vjp: the gradient of input {number + 1} has shape {shapes.show(found.shape)}, the input "
            f"{shapes.show(x.shape)}: the shapes must be equal; undo broadcasting with .sum_to(x.shape)"
        )
    return found
