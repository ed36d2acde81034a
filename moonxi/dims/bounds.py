"""Lower and upper bounds of a polynomial over all values that its symbols may take.

A bound that is found always holds; None means that none was found, not that there is none. Where an expression divides
by zero it has no value, and a bound says nothing there: so a divisor that is at least 0 counts as at least 1.
"""

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import assert_never

from moonxi.dims.polynomial import ONE, Atom, FloorDiv, Maximum, Monomial, Polynomial, Symbol, divided

_EFFORT = 32  # polynomials that one bound may look at: enough for real shapes, and no expression can make it hang


def lower(polynomial: Polynomial) -> int | None:
    """An integer that the polynomial is never less than."""
    # The bound of g*p + c is g times that of p: p is an integer, so its bound is rounded up before it is multiplied.
    content = polynomial.varying.content
    if not content:
        return polynomial.constant
    least = _searched(polynomial.varying.exactly_divided((), content))
    return None if least is None else content * least + polynomial.constant


def upper(polynomial: Polynomial) -> int | None:
    """An integer that the polynomial is never greater than."""
    negated = lower(-polynomial)
    return None if negated is None else -negated


def is_positive_divisor(polynomial: Polynomial) -> bool:
    """Whether the polynomial is above zero wherever one can divide by it."""
    least = lower(polynomial)
    return least is not None and least >= 0


@lru_cache(maxsize=4096)
def interval(atom: Atom) -> tuple[int | None, int | None]:
    """The lower and the upper bound of one atom."""
    match atom:
        case Symbol():
            return atom.least, None
        case FloorDiv():
            return _floor_interval(atom.numerator, atom.denominator)
        case Maximum():
            known = [least for least in map(lower, atom.operands) if least is not None]
            greatest = [most for most in map(upper, atom.operands) if most is not None]
            every = len(greatest) == len(atom.operands)
            return max(known, default=None), max(greatest) if every else None
        case _:
            assert_never(atom)


def _floor_interval(numerator: Polynomial, denominator: Polynomial) -> tuple[int | None, int | None]:
    if not is_positive_divisor(denominator):
        return None, None
    smallest = max(lower(denominator) or 0, 1)
    largest = upper(denominator)
    largest = None if largest is None else max(largest, smallest)
    least, most = lower(numerator), upper(numerator)
    if least is not None:
        # Dividing by more brings a quotient nearer to zero: from above down to 0, from below up to -1.
        least = least // smallest if least < 0 else 0 if largest is None else least // largest
    if most is not None:
        most = most // smallest if most >= 0 else -1 if largest is None else most // largest
    gap = lower(denominator - numerator)
    if gap is not None and gap > 0:
        most = 0 if most is None else min(most, 0)
    return least, most


@lru_cache(maxsize=4096)
def _searched(polynomial: Polynomial) -> int | None:
    return _lower(polynomial, _EFFORT, frozenset())


def _lower(polynomial: Polynomial, effort: int, done: frozenset[Atom]) -> int | None:
    best = _termwise(polynomial)
    compound = [atom for atom in polynomial.atoms() if not isinstance(atom, Symbol) and atom not in done]
    if effort <= 1 or not compound:
        return best
    # The deepest atom first, so that what replaces it brings in only atoms that are still to come; but a maximum of
    # which one operand is enough last, when the most is known.
    atom = max(compound, key=lambda atom: (not _is_free_choice(polynomial, atom), _depth(atom)))
    done |= {atom}
    match atom:
        case FloorDiv():
            relaxed, scale = _without_floor(polynomial, atom)
            bound = _lower(relaxed, effort - 1, done)
            return _greater(best, None if bound is None else -(-bound // scale))
        case Maximum():
            share = effort // len(atom.operands)
            cases = [_lower(polynomial.replaced(_replacing(atom, operand)), share, done) for operand in atom.operands]
            if _is_free_choice(polynomial, atom):
                for case in cases:
                    best = _greater(best, case)
                return best
            known = [case for case in cases if case is not None]
            return _greater(best, min(known) if len(known) == len(cases) else None)
        case _:
            assert_never(atom)


def _greater(left: int | None, right: int | None) -> int | None:
    return left if right is None else right if left is None else max(left, right)


def _depth(atom: Atom) -> int:
    match atom:
        case Symbol():
            return 0
        case FloorDiv():
            parts = [atom.numerator, atom.denominator]
        case Maximum():
            parts = list(atom.operands)
        case _:
            assert_never(atom)
    return 1 + max((_depth(inner) for part in parts for inner in part.atoms()), default=0)


def _replacing(old: Atom, new: Polynomial) -> Callable[[Atom], Polynomial]:
    return lambda atom: new if atom == old else Polynomial.of_atom(atom)


def _termwise(polynomial: Polynomial) -> int | None:
    """The bound that is seen term by term, once every atom is written as its own bound plus something >= 0.

    So ``n*m - n`` with ``n, m >= 1`` becomes ``N*M + M`` with ``N, M >= 0``.
    """
    shifted: dict[Atom, Polynomial] = {}
    width: dict[Atom, int | None] = {}
    for atom in polynomial.atoms():
        least, most = interval(atom)
        if least is not None and least == most:
            shifted[atom] = Polynomial.of_int(least)
        elif least is not None:
            width[atom] = None if most is None else most - least
            if least:
                shifted[atom] = Polynomial.of_int(least) + Polynomial.of_atom(atom)
        elif most is not None:
            width[atom] = None
            shifted[atom] = Polynomial.of_int(most) - Polynomial.of_atom(atom)
    if shifted:
        polynomial = polynomial.replaced(lambda atom: shifted.get(atom, Polynomial.of_atom(atom)))
    total = 0
    for monomial, coefficient in polynomial.terms:
        if any(atom not in width for atom in monomial):
            return None
        if coefficient < 0 or not monomial:
            widths = [width[atom] for atom in monomial]
            finite = [most for most in widths if most is not None]
            if len(finite) < len(widths):
                return None
            total += coefficient * prod(finite)
    return total


def _is_nonnegative(monomial: Monomial) -> bool:
    return all(least is not None and least >= 0 for least, _ in map(interval, monomial))


def _is_free_choice(polynomial: Polynomial, atom: Atom) -> bool:
    """Whether the atom is a maximum that never makes the polynomial greater when one of its operands replaces it."""
    if not isinstance(atom, Maximum):
        return False
    return all(
        coefficient > 0 and atom not in monomial and _is_nonnegative(monomial)
        for monomial, coefficient in polynomial.coefficient_of(atom).terms
    )


def _without_floor(polynomial: Polynomial, floor: FloorDiv) -> tuple[Polynomial, int]:
    """A polynomial ``q`` and a scale ``s > 0`` with ``s * polynomial >= q``, in which ``floor`` is gone where possible.

    From ``numerator - denominator + 1 <= denominator * floor <= numerator``, which holds for a positive denominator.
    """
    numerator, denominator = floor.numerator, floor.denominator
    if not is_positive_divisor(denominator):
        return polynomial, 1
    scale = denominator.value or 1
    relaxed = Polynomial.of_int(scale) * polynomial
    # What can be written as a multiple of `denominator * floor`, term by term.
    multiples, _ = divided(relaxed.coefficient_of(floor), denominator)
    for monomial, coefficient in multiples.terms:
        if _is_nonnegative(monomial):
            bound = numerator if coefficient < 0 else numerator - denominator + ONE
            gain = bound - denominator * Polynomial.of_atom(floor)
            relaxed += Polynomial.of_term(monomial, coefficient) * gain
    return relaxed, scale
