"""Shapes that fit and mean something else than they seem to: an axis that meets itself, an axis that is mixed up."""

from math import prod

from moonxi import shapes
from moonxi.dims import Dim, Size, symbols, unknowns
from moonxi.mypy_plugin.shapes.equations import certainly_differ, is_either, settled
from moonxi.shapes import Sizes

_ADVICE = "give both equally many axes, as they are meant"


def meets_itself(left: Sizes, right: Sizes, result: Sizes) -> str | None:
    """What is wrong with a broadcast of a column and a vector of one size, such as ``(n, 1)`` and ``(n,)``.

    Two shapes with equally many axes are broadcast on purpose: somebody has written out where the 1 goes."""
    if len(left) == len(right):
        return None
    given = f"{shapes.show(left)} and {shapes.show(right)}"
    for size in result:
        if _is_told(size) and 1 < result.count(size) > max(left.count(size), right.count(size)):
            return f"{given} give {shapes.show(result)}, {size} with itself; {_ADVICE}"
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    if shorter and len(longer) == len(shorter) + 1 and longer[:-1] == shorter:
        last, size = longer[-1], shorter[-1]
        if _is_of_a_layer(last) and (_is_name(size) or (_is_of_a_layer(size) and _owner(size) != _owner(last))):
            return f"{given} fit only if {last} is 1, and then give {size} with itself; {_ADVICE}"
    return None


def _is_of_a_layer(size: Size) -> bool:
    """Whether the size is one that an object has, such as ``model.head.outputs``: it may be 1."""
    return isinstance(size, Dim) and unknowns(size) == {str(size)} and settled(size) is not None and "." in str(size)


def _owner(size: Size) -> str:
    return str(size).partition(".")[0]


def is_of_pairs(shape: Sizes) -> bool:
    """Whether an axis is there twice, as in ``(n, n)``."""
    return any(_is_told(size) and shape.count(size) > 1 for size in shape)


def mixes_up(before: Sizes, after: Sizes) -> str | None:
    """What is wrong with a reshape that keeps a named axis but not what is before it, and so not the axis."""
    alone = {place: size for place, size in enumerate(before) if _is_name(size) and before.count(size) == 1}
    mixed: Size | str | None = next(
        (size for place, size in alone.items() if _is_moved(place, size, before, after)), None
    )
    if mixed is None:
        mixed = _overtaken([symbol for size in alone.values() for symbol in symbols(size)], after)
    if mixed is None:
        return None
    return (
        f"reshape: {shapes.show(before)} to {shapes.show(after)}: the elements keep their order, "
        f"so that {mixed} is not {mixed} any more; permute the axes first"
    )


def _is_moved(place: int, size: Size, before: Sizes, after: Sizes) -> bool:
    """Whether an axis stays as it is, with another number of elements before it."""
    if after.count(size) != 1:
        return False
    left, right = settled(prod(before[:place])), settled(prod(after[: after.index(size)]))
    return left is not None and right is not None and certainly_differ(left, right)


def _overtaken(names: list[str], after: Sizes) -> str | None:
    """The first of some axes, given in their order, that goes into an axis behind that into which a later one goes."""
    places = {name: [place for place, size in enumerate(after) if name in symbols(size)] for name in names}
    once = [(name, found[0]) for name, found in places.items() if len(found) == 1]
    for number, (name, place) in enumerate(once):
        if any(later < place for _, later in once[number + 1 :]):
            return name
    return None


def is_padded(size: Size) -> bool:
    """Whether the size is that of an axis and some more, as ``time+1``."""
    return isinstance(size, Dim) and any(_is_name(size - more) for more in (1, 2))


def _is_name(size: Size) -> bool:
    """Whether the size is that of one name in an annotation."""
    return isinstance(size, Dim) and not unknowns(size) and symbols(size) == {str(size)}


def _is_told(size: Size) -> bool:
    """Whether the size is that of an axis, and no number that is there twice by chance."""
    return isinstance(size, Dim) and not is_either(size)
