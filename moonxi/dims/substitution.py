"""Symbols of a size, and sizes or integers put in their place."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import assert_never

from moonxi.dims import extrema
from moonxi.dims.dim import Size, polynomial_of, size_of
from moonxi.dims.division import floor_div
from moonxi.dims.polynomial import Atom, FloorDiv, Maximum, Polynomial, Symbol
from moonxi.errors import ShapeError


def symbols(size: Size) -> frozenset[str]:
    """The names that the size depends on."""
    return frozenset() if isinstance(size, int) else frozenset(least_values(size))


def unknowns(size: Size) -> frozenset[str]:
    """The names among `symbols` whose one value is yet to be found."""
    return frozenset(atom.name for atom in _names(polynomial_of(size)) if atom.open)


def is_clamped(size: Size) -> bool:
    """Whether a maximum or a minimum occurs in the size, as where a slice ends with the axis at the latest."""
    return any(isinstance(atom, Maximum) for atom in _atoms(polynomial_of(size)))


def is_rounded(size: Size) -> bool:
    """Whether a quotient that is rounded down occurs in the size, as in ``h//2*2``."""
    return any(isinstance(atom, FloorDiv) for atom in _atoms(polynomial_of(size)))


def divisors(size: Size, name: str) -> frozenset[int]:
    """The numbers by which something that depends on the name is divided, rounding down."""
    quotients = (atom for atom in _atoms(polynomial_of(size)) if isinstance(atom, FloorDiv))
    return frozenset(
        atom.denominator.value
        for atom in quotients
        if atom.denominator.value is not None and any(one.name == name for one in _names(atom.numerator))
    )


def least_values(*sizes: Size) -> dict[str, int]:
    """The names that the sizes depend on, sorted, each with the least value that it may have."""
    least: dict[str, int] = {}
    for size in sizes:
        for atom in _names(polynomial_of(size)):
            least[atom.name] = max(atom.least, least.get(atom.name, atom.least))
    return dict(sorted(least.items()))


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """The size with all named symbols replaced at once; other symbols stay.

    Raises ShapeError for an integer below the symbol's least value; ZeroDivisionError where a divisor becomes 0.
    """
    if isinstance(size, int) or values.keys().isdisjoint(symbols(size)):
        return size
    return size_of(_rebuilt(size.polynomial, values))


def evaluate(size: Size, values: Mapping[str, int]) -> int:
    """The value of the size; every symbol needs one.

    Raises ShapeError for a missing value or one below the symbol's least; ZeroDivisionError where a divisor is 0.
    """
    return size if isinstance(size, int) else _evaluated(size.polynomial, values)


def _names(polynomial: Polynomial) -> Iterator[Symbol]:
    return (atom for atom in _atoms(polynomial) if isinstance(atom, Symbol))


def _atoms(polynomial: Polynomial) -> Iterator[Atom]:
    """The atoms, those inside others too."""
    for atom in polynomial.atoms():
        yield atom
        match atom:
            case Symbol():
                pass
            case FloorDiv():
                yield from _atoms(atom.numerator)
                yield from _atoms(atom.denominator)
            case Maximum():
                for operand in atom.operands:
                    yield from _atoms(operand)
            case _:
                assert_never(atom)


def _rebuilt(polynomial: Polynomial, values: Mapping[str, Size]) -> Polynomial:
    def image(atom: Atom) -> Polynomial:
        match atom:
            case Symbol():
                if atom.name not in values:
                    return Polynomial.of_atom(atom)
                value = values[atom.name]
                return polynomial_of(_checked(atom, value) if isinstance(value, int) else value)
            case FloorDiv():
                return floor_div(_rebuilt(atom.numerator, values), _rebuilt(atom.denominator, values))
            case Maximum():
                return extrema.maximum(_rebuilt(operand, values) for operand in atom.operands)
            case _:
                assert_never(atom)

    return polynomial.replaced(image)


def _evaluated(polynomial: Polynomial, values: Mapping[str, int]) -> int:
    def value(atom: Atom) -> int:
        match atom:
            case Symbol():
                if atom.name not in values:
                    raise ShapeError(f"evaluate: {atom.name}: the dimension has no value; give one")
                return _checked(atom, values[atom.name])
            case FloorDiv():
                return _evaluated(atom.numerator, values) // _evaluated(atom.denominator, values)
            case Maximum():
                return max(_evaluated(operand, values) for operand in atom.operands)
            case _:
                assert_never(atom)

    return sum(coefficient * prod(map(value, monomial)) for monomial, coefficient in polynomial.terms)


def _checked(atom: Symbol, value: int) -> int:
    if value < atom.least:
        raise ShapeError(f"substitute: {atom.name} = {value}: the dimension is at least {atom.least}")
    return value
