"""Symbolic dimensions: integers that are known only by name, with the arithmetic of ``int``."""

from dataclasses import dataclass
from math import nan, prod
from numbers import Integral
from typing import NoReturn, overload

from moonxi.dims import extrema
from moonxi.dims.bounds import is_positive_divisor
from moonxi.dims.division import floor_div, remainder
from moonxi.dims.polynomial import Polynomial, Symbol
from moonxi.dims.text import text
from moonxi.errors import OperandError

type Size = int | Dim
"""The size of an axis; a dimension whose value is known is always an ``int``, never a ``Dim``."""


@dataclass(frozen=True, slots=True, repr=False)
class Dim:
    """A size that depends on named sizes, in normal form: ``==`` compares normal forms, ``equal`` reasons further.

    ``//`` and ``%`` round down as those of ``int``, and ``x // y`` presupposes that ``y`` is not zero.
    Made by ``symbol``, ``parse`` and arithmetic; an operation whose result is known gives an ``int``.
    """

    polynomial: Polynomial

    def __str__(self) -> str:
        return text(self.polynomial)

    # So that a shape, which is a tuple, reads `(batch, 64, (h-1)//2+1, 8)`.
    __repr__ = __str__

    def __bool__(self) -> NoReturn:
        raise OperandError(f"bool: {self}: whether it is zero is not known; ask equal({self}, 0)")

    def __neg__(self) -> "Dim":
        return Dim(-self.polynomial)

    def __add__(self, other: Size) -> Size:
        right = _operand(other)
        return NotImplemented if right is None else size_of(self.polynomial + right)

    def __radd__(self, other: int) -> Size:
        return self + other

    def __sub__(self, other: Size) -> Size:
        right = _operand(other)
        return NotImplemented if right is None else size_of(self.polynomial - right)

    def __rsub__(self, other: int) -> Size:
        left = _operand(other)
        return NotImplemented if left is None else size_of(left - self.polynomial)

    def __mul__(self, other: Size) -> Size:
        right = _operand(other)
        return NotImplemented if right is None else size_of(self.polynomial * right)

    def __rmul__(self, other: int) -> Size:
        return self * other

    def __floordiv__(self, other: Size) -> Size:
        right = _operand(other)
        return NotImplemented if right is None else size_of(floor_div(self.polynomial, right))

    def __rfloordiv__(self, other: int) -> Size:
        left = _operand(other)
        return NotImplemented if left is None else size_of(floor_div(left, self.polynomial))

    # Numbers such as `1 / n` scale the elements of tensors. Where sizes are symbolic no tensor has any, so the value,
    # which is not known, is not needed either.
    def __float__(self) -> float:
        return nan

    def __truediv__(self, other: object) -> float:
        return nan if isinstance(other, int | float | Dim) else NotImplemented

    __rtruediv__ = __truediv__

    @overload
    def __pow__(self, other: int) -> Size: ...
    @overload
    def __pow__(self, other: float) -> float | Size: ...
    def __pow__(self, other: object) -> float | Size:
        if isinstance(other, int) and other >= 0:
            return prod((self,) * other)
        return nan if isinstance(other, int | float) else NotImplemented

    def __mod__(self, other: Size) -> Size:
        right = _operand(other)
        return NotImplemented if right is None else size_of(remainder(self.polynomial, right))

    def __rmod__(self, other: int) -> Size:
        left = _operand(other)
        return NotImplemented if left is None else size_of(remainder(left, self.polynomial))


def _operand(operand: object) -> Polynomial | None:
    """The normal form of an operand; None of what is no size, so that its own operators get their turn."""
    return polynomial_of(operand) if isinstance(operand, int | Dim) else None


def symbol(name: str, *, least: int = 0) -> Dim:
    """A dimension known only by name, which is at least ``least``.

    One name should have one ``least`` everywhere: ``n`` from 0 on and ``n`` from 1 on are two symbols that print alike.
    """
    return Dim(Polynomial.of_atom(Symbol(name, least)))


def unknown(name: str, *, least: int = 0) -> Dim:
    """A dimension that has one value, at least ``least``, which is yet to be found: see `solve`.

    Of a `symbol`, which can have any value, nothing more will ever be known."""
    return Dim(Polynomial.of_atom(Symbol(name, least, open=True)))


def ceil_div(numerator: Size, denominator: Size) -> Size:
    """The quotient rounded up; ZeroDivisionError if the denominator is 0."""
    if isinstance(numerator, int) and isinstance(denominator, int):
        return -(-numerator // denominator)
    if is_positive_divisor(polynomial_of(denominator)):
        # The same value as below, as one quotient: `(h-1)//2+1` rather than `h-h//2`.
        return (numerator + denominator - 1) // denominator
    return -(-numerator // denominator)


def maximum(first: Size, *others: Size) -> Size:
    """The largest of the sizes."""
    if isinstance(first, int) and all(isinstance(other, int) for other in others):
        return max(first, *(other for other in others if isinstance(other, int)))
    return size_of(extrema.maximum(map(polynomial_of, (first, *others))))


def minimum(first: Size, *others: Size) -> Size:
    """The smallest of the sizes."""
    return -maximum(-first, *(-other for other in others))


def polynomial_of(size: Size) -> Polynomial:
    """The normal form of a size."""
    if isinstance(size, int):
        return Polynomial.of_int(int(size))  # not a number that stands for a size: it would stay in what is remembered
    other: object = size
    if isinstance(other, Integral):  # of NumPy
        return Polynomial.of_int(int(other))
    if not isinstance(other, Dim):
        raise OperandError(f"size {other!r}: expected a whole number")
    return size.polynomial


def size_of(polynomial: Polynomial) -> Size:
    """The size that has this normal form."""
    value = polynomial.value
    return Dim(polynomial) if value is None else value
