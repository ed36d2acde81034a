"""Vector-Jacobian products, and those that several operations share."""

from collections.abc import Callable
from math import prod

from moonxi import shapes
from moonxi.traits import Labels, Shape, Tensor

type Vjp[T] = Callable[[T], T]
"""From the gradient of a result to the gradient of one operand."""


def same[T](gradient: T) -> T:
    """The gradient as it is: that of a sum."""
    return gradient


def summed[T: Tensor](vjp: Vjp[T], shape: Shape, gradient: T) -> T:
    """What a vjp gives, with broadcasting undone."""
    return vjp(gradient).sum_to(shape)


def larger[T: Tensor](gradient: T, mine: T, other: T) -> T:
    """The share of ``mine`` in the gradient of a maximum: all, half at a tie, or none."""
    return gradient.where(mine > other, (gradient * 0.5).where(mine.equal(other), 0.0))


def put_back[T: Tensor](gradient: T, labels: Labels[T], shape: Shape, axis: int) -> T:
    """The adjoint of `take`: zeros of ``shape``, and each slice added at its label along the axis."""
    order = shapes.to_last(shape, axis, "take")
    place, count = order[-1], prod(labels.shape)
    flat = gradient.reshape((*shape[:place], count, *shape[place + 1 :]))
    return flat.permute(order).scatter_add(labels.reshape((count,)), shape[place]).permute(shapes.inverse(order))
