"""Integer polynomials over atoms: the normal form in which every symbolic dimension is kept.

An atom stands for one unknown integer: a name, a floor division or a maximum. Remainders and minima need no atoms of
their own, since ``a % b == a - b * (a // b)`` and ``min(a, b) == -max(-a, -b)``; so ``2*(n//2) + n%2`` *is* ``n``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd

type Order = tuple[int | str | Order, ...]
type Atom = Symbol | FloorDiv | Maximum
type Monomial = tuple[Atom, ...]


@dataclass(frozen=True)
class Symbol:
    """A named integer of which only a lower bound is known; the same name with another bound is another symbol.

    It stands for any such integer, or if it is ``open`` for one that is yet to be found."""

    name: str
    least: int = 0
    open: bool = False

    @cached_property
    def order(self) -> Order:
        return (0, self.name, self.least, self.open)


@dataclass(frozen=True)
class FloorDiv:
    """``numerator // denominator``, which no rule of ``division.py`` makes simpler."""

    numerator: "Polynomial"
    denominator: "Polynomial"

    @cached_property
    def order(self) -> Order:
        return (1, self.numerator.order, self.denominator.order)


@dataclass(frozen=True)
class Maximum:
    """The largest of at least two operands, which no rule of ``extrema.py`` makes simpler."""

    operands: tuple["Polynomial", ...]

    @cached_property
    def order(self) -> Order:
        return (2, *(operand.order for operand in self.operands))


def _atom_order(atom: Atom) -> Order:
    return atom.order


def _monomial_order(monomial: Monomial) -> Order:
    """Graded lexicographic order, the leading monomial first; multiplication keeps it, as polynomial division needs."""
    return (-len(monomial), *(atom.order for atom in monomial))


def monomial_product(left: Monomial, right: Monomial) -> Monomial:
    """The product, its atoms in order."""
    return tuple(sorted(left + right, key=_atom_order))


def monomial_quotient(dividend: Monomial, divisor: Monomial) -> Monomial | None:
    """The monomial that times ``divisor`` is ``dividend``, or None if there is none."""
    rest = list(dividend)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def common_monomial(monomials: Iterable[Monomial]) -> Monomial:
    """The largest monomial that divides each of at least one."""
    first, *others = map(Counter, monomials)
    for other in others:
        first &= other
    return tuple(sorted(first.elements(), key=_atom_order))


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials with coefficients other than zero, the leading one first and the constant last."""

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of_terms(terms: Mapping[Monomial, int]) -> "Polynomial":
        """The polynomial with these coefficients; the atoms of each monomial must be sorted already."""
        kept = [(monomial, coefficient) for monomial, coefficient in terms.items() if coefficient]
        return Polynomial(tuple(sorted(kept, key=lambda term: _monomial_order(term[0]))))

    @staticmethod
    def of_int(value: int) -> "Polynomial":
        return Polynomial((((), value),) if value else ())

    @staticmethod
    def of_atom(atom: Atom) -> "Polynomial":
        return Polynomial((((atom,), 1),))

    @staticmethod
    def of_term(monomial: Monomial, coefficient: int) -> "Polynomial":
        return Polynomial(((monomial, coefficient),) if coefficient else ())

    @cached_property
    def order(self) -> Order:
        return tuple((*_monomial_order(monomial), coefficient) for monomial, coefficient in self.terms)

    @property
    def value(self) -> int | None:
        """The integer that this polynomial is, or None if it has an atom."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[0]
        return None if monomial else coefficient

    @property
    def constant(self) -> int:
        """The coefficient of the empty monomial."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[-1]
        return 0 if monomial else coefficient

    @property
    def varying(self) -> "Polynomial":
        """All but the constant."""
        return Polynomial(self.terms[:-1]) if self.constant else self

    @property
    def content(self) -> int:
        """The greatest common divisor of all coefficients; 0 of the polynomial 0."""
        return gcd(*(coefficient for _, coefficient in self.terms))

    def coefficient(self, monomial: Monomial) -> int:
        return dict(self.terms).get(monomial, 0)

    def coefficient_of(self, atom: Atom) -> "Polynomial":
        """What the atom is multiplied by: the terms that contain it, each over the atom."""
        total: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            quotient = monomial_quotient(monomial, (atom,))
            if quotient is not None:
                total[quotient] = coefficient
        return Polynomial.of_terms(total)

    def atoms(self) -> Iterable[Atom]:
        """The atoms outside other atoms, each once, in the order of their first use."""
        return dict.fromkeys(atom for monomial, _ in self.terms for atom in monomial)

    def exactly_divided(self, monomial: Monomial, coefficient: int) -> "Polynomial":
        """This over ``coefficient * monomial``, which must divide every term."""
        quotients: dict[Monomial, int] = {}
        for dividend, value in self.terms:
            quotient = monomial_quotient(dividend, monomial)
            assert quotient is not None
            assert value % coefficient == 0
            quotients[quotient] = value // coefficient
        return Polynomial.of_terms(quotients)

    def replaced(self, image: Callable[[Atom], "Polynomial"]) -> "Polynomial":
        """This with every atom outside other atoms replaced by its image."""
        total = ZERO
        for monomial, coefficient in self.terms:
            product = Polynomial.of_int(coefficient)
            for atom in monomial:
                product *= image(atom)
            total += product
        return total

    def __add__(self, other: "Polynomial") -> "Polynomial":
        total = dict(self.terms)
        for monomial, coefficient in other.terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        return Polynomial.of_terms(total)

    def __neg__(self) -> "Polynomial":
        return Polynomial(tuple((monomial, -coefficient) for monomial, coefficient in self.terms))

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        return self + -other

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        total: dict[Monomial, int] = {}
        for left, left_coefficient in self.terms:
            for right, right_coefficient in other.terms:
                monomial = monomial_product(left, right)
                total[monomial] = total.get(monomial, 0) + left_coefficient * right_coefficient
        return Polynomial.of_terms(total)


ZERO = Polynomial(())
ONE = Polynomial.of_int(1)


def divided(numerator: Polynomial, denominator: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder of polynomial division: ``numerator == quotient * denominator + remainder``.

    The remainder's coefficients at multiples of the leading monomial lie in ``[0, leading coefficient)``: so numerators
    that differ by a multiple of the denominator have the same remainder. Only the constant, over a constant ``d``, lies
    in ``(-d, 0]``: that keeps ``(h-1)//2 + 1``, the size that a convolution gives, as it is.
    """
    leading, leading_coefficient = denominator.terms[0]
    quotient, left_over, rest = ZERO, ZERO, numerator
    while rest.terms:
        monomial, coefficient = rest.terms[0]
        factor = monomial_quotient(monomial, leading)
        if factor is None:
            factor, times = (), 0
        elif monomial:
            times = coefficient // leading_coefficient
        else:
            times = -(-coefficient // leading_coefficient)
        step = Polynomial.of_term(factor, times)
        kept = Polynomial.of_term(monomial, coefficient - times * leading_coefficient)
        quotient += step
        left_over += kept
        rest -= step * denominator + kept
    return quotient, left_over
