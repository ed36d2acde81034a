"""The maximum and the minimum of polynomials, without the operands that cannot decide them."""

from collections.abc import Iterable
from math import gcd

from moonxi.dims.bounds import lower
from moonxi.dims.polynomial import Maximum, Monomial, Polynomial


def maximum(operands: Iterable[Polynomial]) -> Polynomial:
    """The largest of at least one operand."""
    kept = _undominated(operands)
    if len(kept) > 1:
        kept = _undominated(part for operand in kept for part in _parts(operand))
    if len(kept) == 1:
        return kept[0]
    shared = _shared(kept)
    rest = [operand - shared for operand in kept]
    # Of the constants, that of the first varying operand: `max(n-1, 0)` and `max(n, 1) - 1` are one and the same.
    anchor = min((operand for operand in rest if operand.varying.terms), key=lambda operand: operand.varying.order)
    constant = Polynomial.of_int(anchor.constant)
    rest = [operand - constant for operand in rest]
    common = gcd(*(operand.content for operand in rest))
    reduced = sorted((operand.exactly_divided((), common) for operand in rest), key=lambda operand: operand.order)
    return shared + constant + Polynomial.of_int(common) * Polynomial.of_atom(Maximum(tuple(reduced)))


def minimum(operands: Iterable[Polynomial]) -> Polynomial:
    """The smallest of at least one operand."""
    return -maximum(-operand for operand in operands)


def _parts(operand: Polynomial) -> list[Polynomial]:
    """The operands of a maximum inside a maximum: ``max(2*max(a, b) + c, d) == max(2*a + c, 2*b + c, d)``."""
    for monomial, coefficient in operand.terms:
        if coefficient > 0 and len(monomial) == 1 and isinstance(inner := monomial[0], Maximum):
            rest, times = operand - Polynomial.of_term(monomial, coefficient), Polynomial.of_int(coefficient)
            return [times * part + rest for part in inner.operands]
    return [operand]


def _undominated(operands: Iterable[Polynomial]) -> list[Polynomial]:
    """The operands, sorted, without those that another one is never less than."""
    kept: list[Polynomial] = []
    for operand in sorted(set(operands), key=lambda operand: operand.order):
        if not any(_at_least(other, operand) for other in kept):
            kept = [other for other in kept if not _at_least(operand, other)]
            kept.append(operand)
    return kept


def _at_least(left: Polynomial, right: Polynomial) -> bool:
    least = lower(left - right)
    return least is not None and least >= 0


def _shared(operands: list[Polynomial]) -> Polynomial:
    """Of each monomial as much as all operands have with one sign: ``max(a + 2*c, b + c) == max(a + c, b) + c``."""
    shared: dict[Monomial, int] = {}
    for monomial, _ in operands[0].varying.terms:
        coefficients = [operand.coefficient(monomial) for operand in operands]
        if min(coefficients) > 0:
            shared[monomial] = min(coefficients)
        elif max(coefficients) < 0:
            shared[monomial] = max(coefficients)
    return Polynomial.of_terms(shared)
