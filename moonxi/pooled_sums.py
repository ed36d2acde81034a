"""Gradients of max pooling from two gradients of its result, as a residual block gives them, without their sum."""

from typing import Protocol, Self, Unpack, runtime_checkable

from moonxi.traits import Pair, PoolOptions


@runtime_checkable
class WithPooledSums(Protocol):
    """A tensor class that does not need the sum in memory. Nothing is checked."""

    def max_pool2d_grad_of_sum(self, dy: Self, other: Self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        """As ``max_pool2d_grad`` of ``dy + other``, which have one shape."""
        ...
