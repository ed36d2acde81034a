"""What is known of sizes within one function, and which two sizes differ for certain."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from moonxi import shapes
from moonxi.dims import (
    Size,
    can_differ,
    is_clamped,
    is_rounded,
    provably_different,
    solve,
    substitute,
    symbol,
    symbols,
    unknown,
    unknowns,
)
from moonxi.shapes import Sizes

_LEAST = 2  # a named size may be 1, but code that is right only then is not what is meant
_LONGEST = 10  # chain of unknowns found one through another

_NUMBERS = count(1)  # of unknowns, in all runs: values of one are met in another


def named(name: str) -> Size:
    """The size for which a name in an annotation stands: it can be any, and another name's can be another."""
    return symbol(name, least=_LEAST)


def argument(name: str) -> Size:
    """The integer that a function is given."""
    return unknown(f"{{{name}}}")


def is_argument(size: Size) -> bool:
    """Whether a size depends on a single integer that a function is given, and on nothing else."""
    names = symbols(size)
    return len(names) == 1 and all(name.startswith("{") for name in names)


def certainly_differ(left: Size, right: Size) -> bool:
    """Whether code that needs the two to be equal is wrong.

    Sizes that only rounding tells apart, as ``h//2*2`` and ``h``, are equal for whoever knows that ``h`` is even."""
    if provably_different(left, right):
        return True
    return not any(is_rounded(one) or is_clamped(one) for one in (left, right)) and can_differ(left, right)


class Equations:
    """The sizes that were unknown and have been found."""

    def __init__(self) -> None:
        self._found: dict[str, Size] = {}
        self.apart: frozenset[str] = frozenset()
        """Names that one class gives to sizes of its fields: unknown or not, one of them is not another."""

    def fresh(self) -> Size:
        """A size of which nothing is known."""
        return unknown(f"?{next(_NUMBERS)}")

    def known(self) -> dict[str, Size]:
        """What has been found so far, to return to with `forget`."""
        return dict(self._found)

    def forget(self, known: dict[str, Size]) -> None:
        """Go back to what was found before a branch."""
        self._found = known

    def size(self, size: Size) -> Size:
        """The size with what has been found in place of unknowns."""
        for _ in range(_LONGEST):
            if unknowns(size).isdisjoint(self._found):
                break
            size = substitute(size, self._found)
        return size

    def shape(self, shape: Sizes) -> Sizes:
        """The shape with what has been found in place of unknowns."""
        return tuple(map(self.size, shape))

    @contextmanager
    def solving(self, *, equal: bool) -> Iterator[None]:
        """For rules; ``equal`` says of the one that it needs sizes equal, and does not broadcast them."""
        solver = self._differ if equal else self._are_apart
        with shapes.solving(solver), shapes.judging(certainly_differ):
            yield

    def _differ(self, left: Size, right: Size) -> bool:
        left, right = self.size(left), self.size(right)
        if left == right:
            return False
        if not unknowns(left) and not unknowns(right):
            return certainly_differ(left, right)
        if self._are_apart(left, right):
            return True
        for name, value in solve(left, right).items():
            if value is None or (isinstance(value, int) and value < 1):  # the size is not 0 that makes all alike
                if symbols(left) | symbols(right) == {name}:
                    return True
            elif name not in symbols(value) and not is_rounded(value):
                self._found[name] = value
                return False
        return False

    def _are_apart(self, left: Size, right: Size) -> bool:
        return left != right and str(left) in self.apart and str(right) in self.apart
