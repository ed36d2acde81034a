"""The trait `BlasTensor`: products of matrices."""

# A docstring is the whole body of a Protocol's method; pyright wants `...` besides.
# pyright: reportReturnType=false

from typing import Protocol, Self, runtime_checkable

from moonxi.traits.labels import Carrier


@runtime_checkable
class BlasTensor(Carrier, Protocol):
    """A tensor whose last two axes are the rows and columns of a matrix."""

    __slots__ = ()

    def matmul(self, other: Self, /) -> Self:
        """The matrix product ``(..., n, k) @ (..., k, m) -> (..., n, m)``; the leading axes broadcast.

        Raises `ShapeError` if the inner sizes differ or either operand has fewer than two axes."""

    def __matmul__(self, other: Self, /) -> Self: ...

    def transpose(self) -> Self:
        """Rows and columns exchanged: the last two axes."""
