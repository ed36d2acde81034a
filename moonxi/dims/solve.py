"""Equations between sizes, solved for their unknowns."""

from moonxi.dims.dim import Size, polynomial_of, size_of
from moonxi.dims.facts import can_differ, provably_different, provably_less
from moonxi.dims.substitution import least_values, substitute, unknowns
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
