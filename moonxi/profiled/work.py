"""How much work an operation is, by the shapes of its operands and results; what depends on a symbolic size is 0."""

from math import prod
from typing import NamedTuple

from moonxi.dims import Dim
from moonxi.traits import Shape, Tensor


class Work(NamedTuple):
    """The work of one call."""

    bytes: int = 0
    """Of operands and results, each counted once, as if all of it lay in memory."""
    flops: int = 0
    """Floating-point operations; 0 if not known."""


def moved[T: Tensor](*values: T | float) -> int:
    """The bytes of these tensors; numbers are none."""
    total = 0
    for x in values:
        if not isinstance(x, (float, int, Dim)):
            total += size(x.shape) * x.dtype.itemsize
    return total


def multiply_adds(count: int, terms: int) -> int:
    """The floating-point operations of as many sums of ``terms`` products: two a term, zeros of a padding too."""
    return 2 * count * terms


def size(shape: Shape) -> int:
    """The number of elements."""
    count: object = prod(shape)
    return count if isinstance(count, int) else 0
