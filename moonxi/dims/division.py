"""Floor division of polynomials, as far as it can be carried out; what is left becomes a ``FloorDiv`` atom.

Every rule holds for Python's ``//`` wherever the divisor is not zero, whatever the signs, unless it says otherwise.
"""

from functools import lru_cache
from math import gcd

from moonxi.dims.bounds import is_positive_divisor, lower, upper
from moonxi.dims.polynomial import ONE, FloorDiv, Polynomial, common_monomial, divided


@lru_cache(maxsize=4096)
def floor_div(numerator: Polynomial, denominator: Polynomial) -> Polynomial:
    """``numerator // denominator``; ZeroDivisionError if the denominator is the polynomial 0."""
    if not denominator.terms:
        raise ZeroDivisionError("floor division of a dimension by zero")
    numerator, denominator = _in_lowest_terms(numerator, denominator)
    if denominator == ONE:
        return numerator
    quotient, rest = divided(numerator, denominator)
    if rest.value is not None and denominator.value is not None:
        return quotient + Polynomial.of_int(rest.value // denominator.value)
    if not rest.terms:
        return quotient
    merged = _with_inner_division_merged(rest, denominator)
    if merged is not None:
        return quotient + merged
    floor = _known_value(Polynomial.of_atom(FloorDiv(rest, denominator)))
    return _known_value(quotient + floor)


def _known_value(polynomial: Polynomial) -> Polynomial:
    """The polynomial, or the only value that it can have: ``(n % 4) // 4`` is 0."""
    least = lower(polynomial)
    return Polynomial.of_int(least) if least is not None and least == upper(polynomial) else polynomial


def remainder(numerator: Polynomial, denominator: Polynomial) -> Polynomial:
    """``numerator % denominator``; ZeroDivisionError if the denominator is the polynomial 0."""
    return numerator - denominator * floor_div(numerator, denominator)


def _in_lowest_terms(numerator: Polynomial, denominator: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Cancels common factors, and the sign of the denominator's leading coefficient."""
    sign = 1 if denominator.terms[0][1] > 0 else -1
    factor = common_monomial(monomial for monomial, _ in numerator.terms + denominator.terms)
    numerator, denominator = numerator.exactly_divided(factor, sign), denominator.exactly_divided(factor, sign)
    if denominator.value is None:
        common = gcd(numerator.content, denominator.content)
        return numerator.exactly_divided((), common), denominator.exactly_divided((), common)
    # (g*p + c) // (g*d) == (p + c//g) // d for a constant g > 0, since p and d are integers.
    common = gcd(numerator.varying.content, denominator.value)
    constant = Polynomial.of_int(numerator.constant // common)
    return numerator.varying.exactly_divided((), common) + constant, denominator.exactly_divided((), common)


def _with_inner_division_merged(numerator: Polynomial, denominator: Polynomial) -> Polynomial | None:
    """``(p // d + q) // e == (p + d*q) // (d*e)``, which holds for a positive ``e`` and any ``d``; else None."""
    if not is_positive_divisor(denominator):
        return None
    for monomial, coefficient in numerator.terms:
        if coefficient == 1 and len(monomial) == 1 and isinstance(inner := monomial[0], FloorDiv):
            rest = numerator - Polynomial.of_atom(inner)
            return floor_div(inner.numerator + inner.denominator * rest, inner.denominator * denominator)
    return None
