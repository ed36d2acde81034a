"""Unification: which values of a pattern's names make it equal to an actual size."""

from collections.abc import Mapping
from dataclasses import dataclass

from moonxi.dims.dim import Dim, Size, size_of, symbol
from moonxi.dims.facts import Answer, equal, less, provably_different
from moonxi.dims.polynomial import Monomial, Polynomial, Symbol
from moonxi.dims.substitution import least_values, substitute, symbols


@dataclass(frozen=True)
class Unification:
    """Whether a pattern fits an actual size, and what its names are bound to if it does.

    YES: it fits with these bindings. NO: nothing makes it fit; the bindings are those given. UNKNOWN: it may fit, and
    if it does then with these bindings (a name that is not among them can still be anything).
    """

    fits: Answer
    bindings: Mapping[str, Size]


def unify(pattern: Size, actual: Size, bindings: Mapping[str, Size]) -> Unification:
    """Fits the pattern to the actual size, and binds its one name that is not bound yet if the pattern is linear in it.

    ``2*c`` fits 64 with ``c = 32``, does not fit 65, and may fit ``n`` with ``c = n//2``. The names of the pattern and
    those of the actual size (and of the bound sizes) are apart: ``n`` may well be bound to another ``n + 1``.
    """
    if isinstance(pattern, int):
        return Unification(equal(pattern, actual), bindings)
    unbound = {name: least for name, least in least_values(pattern).items() if name not in bindings}
    if not unbound:
        return Unification(equal(substitute(pattern, bindings), actual), bindings)
    if len(unbound) == 1:
        ((name, least),) = unbound.items()
        linear = linear_in(pattern.polynomial, name)
        if linear is not None:
            slope, offset = (substitute(size_of(part), bindings) for part in linear)
            return _solved(name, least, slope, actual - offset, bindings)
    apart = _renamed_apart(unbound, symbols(actual).union(*map(symbols, bindings.values())))
    impossible = provably_different(substitute(pattern, {**bindings, **apart}), actual)
    return Unification(Answer.NO if impossible else Answer.UNKNOWN, bindings)


def _solved(name: str, least: int, slope: Size, product: Size, bindings: Mapping[str, Size]) -> Unification:
    """Solves ``slope * name == product`` for the name."""
    if slope == 0:
        return Unification(equal(product, 0), bindings)
    value = product // slope
    exact, too_small = equal(slope * value, product), less(value, least)
    if not provably_different(slope, 0):
        # Where the slope is zero every value fits or none does, so nothing follows about the name.
        return Unification(Answer.UNKNOWN, bindings)
    if exact is Answer.NO or too_small is Answer.YES:
        return Unification(Answer.NO, bindings)
    certain = exact is Answer.YES and too_small is Answer.NO
    return Unification(Answer.YES if certain else Answer.UNKNOWN, {**bindings, name: value})


def linear_in(polynomial: Polynomial, name: str) -> tuple[Polynomial, Polynomial] | None:
    """The slope and the offset of the polynomial in a name; None if it is not linear in it."""
    slope: dict[Monomial, int] = {}
    offset: dict[Monomial, int] = {}
    for monomial, coefficient in polynomial.terms:
        named = [atom for atom in monomial if name in symbols(Dim(Polynomial.of_atom(atom)))]
        if not named:
            offset[monomial] = coefficient
        elif len(named) == 1 and isinstance(named[0], Symbol):
            rest = tuple(atom for atom in monomial if atom not in named)
            slope[rest] = slope.get(rest, 0) + coefficient
        else:
            return None
    return Polynomial.of_terms(slope), Polynomial.of_terms(offset)


def _renamed_apart(names: Mapping[str, int], taken: frozenset[str]) -> dict[str, Size]:
    """A symbol for each name and its least value, called otherwise than all that are taken."""
    mark = ""
    while any(name + mark in taken for name in names):
        mark += "'"
    return {name: symbol(name + mark, least=least) for name, least in names.items()}
