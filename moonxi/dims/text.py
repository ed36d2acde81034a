"""Polynomials as text, in the notation that ``parse`` reads: ``(h-1)//2+1``, ``2*c``, ``n%2``, ``min(n,5)``."""

from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from moonxi.dims.polynomial import Atom, FloorDiv, Maximum, Monomial, Polynomial, Symbol, divided


@dataclass(frozen=True)
class _Factor:
    """``binds`` says whether the text can stand in a product without parentheses."""

    text: str
    binds: bool

    @property
    def bound(self) -> str:
        return self.text if self.binds else f"({self.text})"


@dataclass(frozen=True)
class _Term:
    coefficient: int
    factors: tuple[_Factor, ...]

    def magnitude(self, *, after_minus: bool) -> str:
        """The text without the sign; a leading ``-`` binds closer than ``//``, one between terms does not."""
        size = abs(self.coefficient)
        if size == 1 and len(self.factors) == 1:
            return self.factors[0].bound if after_minus else self.factors[0].text
        numbers = [str(size)] if size != 1 or not self.factors else []
        return "*".join(numbers + [factor.bound for factor in self.factors])


@lru_cache(maxsize=4096)  # errors are worded before it is known whether they are raised
def text(polynomial: Polynomial) -> str:
    """The polynomial as one expression."""
    varying, remainders = _with_remainders_apart(polynomial)
    terms = [*_terms(varying), *remainders]
    if varying.constant:
        terms.append(_Term(varying.constant, ()))
    if not terms:
        return "0"
    # `5-n` reads better than `-n+5`.
    first = next((term for term in terms if term.coefficient > 0), terms[0])
    terms.remove(first)
    pieces = [("-" if first.coefficient < 0 else "") + first.magnitude(after_minus=first.coefficient < 0)]
    for term in terms:
        pieces.append(("-" if term.coefficient < 0 else "+") + term.magnitude(after_minus=False))
    return "".join(pieces)


def _terms(polynomial: Polynomial) -> list[_Term]:
    """The terms other than the constant."""
    polynomial, signed_floors = _with_signed_floors_apart(polynomial)
    return [_term(monomial, coefficient) for monomial, coefficient in polynomial.varying.terms] + signed_floors


def _term(monomial: Monomial, coefficient: int) -> _Term:
    factors = []
    for atom in monomial:
        if isinstance(atom, Maximum) and _is_negated(atom.operands):
            coefficient = -coefficient
        factors.append(_factor(atom))
    return _Term(coefficient, tuple(factors))


def _factor(atom: Atom) -> _Factor:
    match atom:
        case Symbol():
            return _Factor(atom.name, binds=True)
        case FloorDiv():
            return _quotient(atom.numerator, "//", atom.denominator)
        case Maximum():
            name, operands = "max", atom.operands
            if _is_negated(operands):
                name, operands = "min", tuple(-operand for operand in operands)
            ordered = sorted(operands, key=lambda operand: operand.value is not None)
            return _Factor(f"{name}({','.join(map(text, ordered))})", binds=True)
        case _:
            assert_never(atom)


def _is_negated(operands: tuple[Polynomial, ...]) -> bool:
    """Whether ``-max(operands)`` reads better as a minimum."""
    return all(operand.terms[0][1] < 0 for operand in operands if operand.varying.terms)


def _quotient(numerator: Polynomial, operator: str, denominator: Polynomial) -> _Factor:
    return _Factor(_operand(numerator) + operator + _operand(denominator), binds=False)


def _operand(polynomial: Polynomial) -> str:
    shown = text(polynomial)
    is_single = polynomial.value is not None or (
        len(polynomial.terms) == 1
        and len(polynomial.terms[0][0]) == 1
        and polynomial.terms[0][1] == 1
        and isinstance(polynomial.terms[0][0][0], Symbol)
    )
    return shown if is_single and not shown.startswith("-") else f"({shown})"


def _with_remainders_apart(polynomial: Polynomial) -> tuple[Polynomial, list[_Term]]:
    """Finds ``q*a - q*b*(a//b)`` in the polynomial, and writes it ``q*(a%b)`` where that is shorter."""
    remainders: list[_Term] = []
    for atom in polynomial.atoms():
        if not isinstance(atom, FloorDiv):
            continue
        remainder = atom.numerator - atom.denominator * Polynomial.of_atom(atom)
        multiples, _ = divided(polynomial.coefficient_of(atom), atom.denominator)
        for monomial, coefficient in multiples.terms:
            shorter = polynomial + Polynomial.of_term(monomial, coefficient) * remainder
            if len(shorter.terms) + 1 < len(polynomial.terms):
                outer = _term(monomial, -coefficient)
                factor = _quotient(atom.numerator, "%", atom.denominator)
                remainders.append(_Term(outer.coefficient, (*outer.factors, factor)))
                polynomial = shorter
    return polynomial, remainders


def _with_signed_floors_apart(polynomial: Polynomial) -> tuple[Polynomial, list[_Term]]:
    """Writes ``(h+k)//2 - k``, the normal form of ``(h-k)//2``, as the latter again."""
    signed: list[_Term] = []
    for monomial, coefficient in polynomial.terms:
        if len(monomial) != 1 or not isinstance(floor := monomial[0], FloorDiv) or floor.denominator.value is None:
            continue
        numerator = floor.numerator
        if not all(isinstance(atom, Symbol) for atom in numerator.atoms()):
            continue
        rest = polynomial - Polynomial.of_term(monomial, coefficient)
        for inner, _ in floor.numerator.varying.terms:
            if polynomial.coefficient(inner) == -coefficient:
                rest += Polynomial.of_term(inner, coefficient)
                numerator -= Polynomial.of_term(inner, floor.denominator.value)
        # `-((-n)//2)` would be no better than `n-n//2`.
        if numerator != floor.numerator and numerator.terms[0][1] > 0:
            signed.append(_Term(coefficient, (_quotient(numerator, "//", floor.denominator),)))
            polynomial = rest
    return polynomial, signed
