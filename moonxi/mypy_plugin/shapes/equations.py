"""What is known of sizes within one function, and which two sizes differ for certain."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count

from moonxi import shapes
from moonxi.dims import (
    Size,
    can_agree,
    can_differ,
    is_clamped,
    is_rounded,
    maximum,
    minimum,
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
_LARGE = 10**6
_EITHER = "?~"
_PATH = re.compile(r"\{?[\w.\[\]]+\}?")


def fresh(called: str = "") -> Size:
    """A size of which nothing is known; errors call it by the name."""
    return size_of(f"?{next(_NUMBERS)}{called}")


def either(left: Size, right: Size) -> Size:
    """The size that is one or the other, as it comes."""
    if left == right or is_either(left):
        return left
    return size_of(f"{_EITHER}{next(_NUMBERS)}")


def is_either(size: Size) -> bool:
    """Whether `either` has made the size."""
    return str(size).startswith(_EITHER)


def size_of(path: str) -> Size:
    """The size of an axis that has one value, which is not known."""
    return unknown(path, least=1)


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


def settled(size: Size) -> Size | None:
    """The size with names in place of unknowns that stand for one thing, as the integer ``heads`` that a function is
    given or the width of a layer; None of one that nothing has named."""
    return None if is_nameless(size) else substitute(size, {name: named(name) for name in unknowns(size)})


def is_nameless(size: Size) -> bool:
    """Whether a size depends on one of which nothing is known, not even what it is called."""
    return any(name.startswith("?") for name in unknowns(size))


def certainly_differ(left: Size, right: Size) -> bool:
    """Whether code that needs the two to be equal is wrong.

    Sizes that only rounding tells apart, as ``h//2*2`` and ``h``, are equal for whoever knows that ``h`` is even; but
    ``h//4`` and ``h//2`` are not, whatever one knows of remainders."""
    if provably_different(left, right):
        return True
    if is_clamped(left) or is_clamped(right):
        return False
    if is_rounded(left) or is_rounded(right):
        return not can_agree(left, right)
    return can_differ(left, right)


def cut_apart(left: Size, right: Size, *, whole: bool) -> bool:
    """Whether both are one axis cut to lengths that are written as numbers, as of ``x[:32]`` and ``y[:16]``: they are
    equal only where neither cuts anything off. With ``whole`` one of them may be the axis itself."""
    names = symbols(left) | symbols(right)
    if len(names) != 1 or unknowns(left) or unknowns(right):
        return False
    axis = named(*names)
    lengths = [_cut(axis, size) for size in (left, right) if not (whole and size == axis)]
    return None not in lengths and len({*lengths}) == len(lengths) and left != right


def _cut(axis: Size, size: Size) -> int | None:
    """The number to which an axis is cut; None of another size."""
    most = substitute(size, dict.fromkeys(symbols(axis), _LARGE))
    if not isinstance(most, int) or most >= _LARGE:
        return None
    return most if size in (minimum(axis, most), axis - maximum(axis - most, 0)) else None


class Equations:
    """The sizes that were unknown and have been found."""

    def __init__(self) -> None:
        self._found: dict[str, Size] = {}
        self._apart: list[tuple[frozenset[str], frozenset[str]]] = []
        self._brought: list[tuple[frozenset[str], tuple[str, ...]]] = []
        self.excused: set[str] = set()
        """Unknowns that were found to be a number that is written in an annotation."""
        self.fresh = fresh

    def keep_apart(self, left: Iterable[Size], right: Iterable[Size] | None = None) -> None:
        """Names for different things are different sizes, unknown or not: one on the left is none on the right, or if
        that is left out, none of the others."""
        first = frozenset(map(str, left))
        self._apart.append((first, first if right is None else frozenset(map(str, right))))

    def bring(self, names: Iterable[Size], path: str) -> None:
        """Sizes that a caller brings are none of those that the object of the path has."""
        self._brought.append((frozenset(map(str, names)), (f"{path}.", f"{{{path}.")))

    def known(self) -> dict[str, Size]:
        """What has been found so far, to return to with `forget`."""
        return dict(self._found)

    def excuse(self, before: Mapping[str, Size], numbers: set[int]) -> None:
        """Of what has been found since then and is one of the numbers: an annotation says so."""
        self.excused |= {name for name, size in self._found.items() if name not in before and size in numbers}

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
    def solving(self, *, equal: bool, judge: Callable[[Size, Size], bool] = certainly_differ) -> Iterator[None]:
        """For rules; ``equal`` says of the one that it needs sizes equal, and does not broadcast them."""
        solver = self._differ if equal else self._are_apart
        with shapes.solving(solver), shapes.judging(judge):
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
                if _can_vanish(value):
                    return True
                self._found[name] = value
                return False
        return False

    def _are_apart(self, left: Size, right: Size) -> bool:
        one, other = str(left), str(right)
        return one != other and (self._is_kept_apart(one, other) or self._is_kept_apart(other, one))

    def _is_kept_apart(self, one: str, other: str) -> bool:
        return any(one in first and other in second for first, second in self._apart) or any(
            one in names and other.startswith(paths) and _PATH.fullmatch(other) for names, paths in self._brought
        )


def _can_vanish(value: Size) -> bool:
    """Whether a size, one of a layer, would have to be ``32-n`` for whatever ``n`` a caller brings."""
    if isinstance(value, int) or unknowns(value):
        return False
    large = substitute(value, dict.fromkeys(symbols(value), _LARGE))
    return isinstance(large, int) and large < 1
