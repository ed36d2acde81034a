"""Equations between sizes, solved for their unknowns."""

from math import prod

from moonxi.dims.dim import Size, polynomial_of, size_of, unknown
from moonxi.dims.facts import can_differ, provably_different, provably_less
from moonxi.dims.substitution import divisors, least_values, substitute, unknowns
from moonxi.dims.unify import linear_in


def solve(left: Size, right: Size) -> dict[str, Size | None]:
    """For each unknown in which the sizes are linear the value that makes them equal, None where no value does.

    The value may depend on other names, but then holds for every value of theirs: ``2*u == n`` has no solution."""
    found: dict[str, Size | None] = {}
    difference = polynomial_of(left - right)
    for name in sorted(unknowns(left) | unknowns(right)):
        linear = linear_in(difference, name)
        if linear is None:
            continue
        slope, offset = map(size_of, linear)
        if slope == 0 or (not isinstance(slope, int) and not provably_different(slope, 0)):
            continue
        value = -offset // slope
        if provably_less(value, least_values(left, right)[name]):
            found[name] = None
        elif not can_differ(substitute(left, {name: value}), substitute(right, {name: value})):
            found[name] = value
        elif not unknowns(slope) and not unknowns(offset):  # another unknown may yet make it come out even
            found[name] = None
    return found


def unrounded(left: Size, right: Size) -> dict[str, Size]:
    """For each unknown in a quotient that is rounded down one of the values that make the sizes equal.

    ``n//2 == m`` holds for ``n = 2*m``, and for ``2*m+1``, which is not given."""
    found: dict[str, Size] = {}
    for name in sorted(unknowns(left) | unknowns(right)):
        scale = prod(divisors(left, name) | divisors(right, name))
        if scale == 1:
            continue
        part = f"{name}//{scale}"  # no name has a slash
        for rest in (0, 1):
            value = scale * unknown(part) + rest
            solution = solve(substitute(left, {name: value}), substitute(right, {name: value})).get(part)
            if solution is None:
                continue
            value = scale * solution + rest
            if provably_less(value, least_values(left, right)[name]) or part in unknowns(value):
                continue
            if not can_differ(substitute(left, {name: value}), substitute(right, {name: value})):
                found[name] = value
                break
    return found
