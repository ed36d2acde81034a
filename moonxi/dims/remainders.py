"""Sizes for known remainders: ``h//2*2`` and ``h`` are one size if ``h`` is even, ``h//4`` and ``h//2`` never are."""

from functools import lru_cache
from itertools import islice, product
from math import lcm, prod

from moonxi.dims.dim import Size, size_of, symbol
from moonxi.dims.polynomial import Atom, FloorDiv, Maximum, Polynomial, Symbol
from moonxi.dims.substitution import is_rounded, substitute, symbols

_MOST = 256  # combinations of remainders that are looked at: those of two names by 16, or of one by 256


@lru_cache(maxsize=1024)
def can_agree(left: Size, right: Size) -> bool:
    """Whether the two are one size for all values of their names that leave some remainders when they are divided.

    Yes too where that is not found out: divisors that are names, and more than a few names and divisors."""
    difference = left - right
    if isinstance(difference, int):
        return difference == 0
    divisors = _divisors(difference.polynomial)
    if divisors is None:
        return True
    for remainders in islice(product(*map(range, divisors.values())), _MOST):
        values = {
            name: divisor * symbol(f"{name}'") + remainder
            for (name, divisor), remainder in zip(divisors.items(), remainders, strict=True)
        }
        rest = substitute(difference, values)
        if rest == 0 or is_rounded(rest):
            return True
    return prod(divisors.values()) > _MOST


def _divisors(polynomial: Polynomial) -> dict[str, int] | None:
    """By what each name has to be divided so that no quotient in the polynomial is rounded; None if by a name."""
    found: dict[str, int] = {}
    for atom in polynomial.atoms():
        own = _of_atom(atom)
        if own is None:
            return None
        for name, divisor in own.items():
            found[name] = lcm(found.get(name, 1), divisor)
    return found


def _of_atom(atom: Atom) -> dict[str, int] | None:
    match atom:
        case Symbol():
            return {}
        case FloorDiv(denominator=denominator):
            inner = _divisors(atom.numerator)
            divisor = denominator.value
            if inner is None or divisor is None:
                return None
            return {name: abs(divisor) * inner.get(name, 1) for name in symbols(size_of(atom.numerator))}
        case Maximum():
            return None
