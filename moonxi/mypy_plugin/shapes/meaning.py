"""Shapes that fit and mean something else than they seem to: an axis that meets itself, an axis that is mixed up."""

from math import prod

from moonxi import shapes
from moonxi.dims import Dim, Size, symbols, unknowns
from moonxi.mypy_plugin.shapes.equations import certainly_differ, is_argument
from moonxi.shapes import Sizes


def meets_itself(left: Sizes, right: Sizes, result: Sizes) -> str | None:
    """What is wrong with a broadcast of a column and a vector of one size, such as ``(n, 1)`` and ``(n,)``.

    Two shapes with equally many axes are broadcast on purpose: somebody has written out where the 1 goes."""
    if len(left) == len(right):
        return None
    for size in result:
        if _is_told(size) and result.count(size) > max(left.count(size), right.count(size)):
            return (
                f"{shapes.show(left)} and {shapes.show(right)} give {shapes.show(result)}, {size} with itself; "
                "give both equally many axes, as they are meant"
            )
    return None


def mixes_up(before: Sizes, after: Sizes) -> str | None:
    """What is wrong with a reshape that keeps a named axis but not what is before it, and so not the axis."""
    for place, size in enumerate(before):
        if not _is_name(size) or before.count(size) != 1 or after.count(size) != 1:
            continue
        left, right = prod(before[:place]), prod(after[: after.index(size)])
        if not unknowns(left) and not unknowns(right) and certainly_differ(left, right):
            return (
                f"reshape: {shapes.show(before)} to {shapes.show(after)}: the elements keep their order, "
                f"so that {size} is not {size} any more; permute the axes first"
            )
    return None


def _is_name(size: Size) -> bool:
    """Whether the size is that of one name in an annotation."""
    return isinstance(size, Dim) and not unknowns(size) and symbols(size) == {str(size)}


def _is_told(size: Size) -> bool:
    """Whether the size is that of a name in an annotation, or an integer that the function is given."""
    return isinstance(size, Dim) and (not unknowns(size) or is_argument(size))
