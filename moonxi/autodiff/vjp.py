"""Vector-Jacobian products, and those that several operations share."""

from collections.abc import Callable

from moonxi.traits import Shape, Tensor

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
