"""The rules of the operations that join, cut, move and repeat.

Sizes are written ``int`` here; a symbolic one has the arithmetic of an int, which is all that these rules ask of it.
"""

from moonxi.dims import provably_less
from moonxi.shapes.agreement import differ
from moonxi.shapes.arrays import axes, fail, show, sizes
from moonxi.shapes.arrays import axis as from_front

type _Shape = tuple[int, ...]


def squeeze(shape: _Shape, numbers: int | _Shape) -> _Shape:
    """The shape without some axes of size 1."""
    gone = axes(shape, numbers, "squeeze")
    for number in gone:
        if differ(shape[number], 1):
            fail("squeeze", f"{show(shape)}, axes {show(gone)}", f"axis {number} has size {shape[number]}, not 1")
    return tuple(size for number, size in enumerate(shape) if number not in gone)


def unsqueeze(shape: _Shape, numbers: int | _Shape) -> _Shape:
    """The shape with new axes of size 1 at these places of the result."""
    places = (numbers,) if isinstance(numbers, int) else numbers
    new = axes((1,) * (len(shape) + len(places)), places, "unsqueeze")
    rest = iter(shape)
    return tuple(1 if number in new else next(rest) for number in range(len(shape) + len(places)))


def pad(shape: _Shape, widths: tuple[tuple[int, int], ...]) -> _Shape:
    """Each size and what comes before and after it."""
    given = f"{show(shape)}, widths {widths}"
    if len(widths) != len(shape) or not all(map(_is_pair, widths)):
        fail("pad", given, f"there must be one pair (before, after) for each of the {len(shape)} axes")
    if any(width < 0 for pair in widths for width in pair):
        fail("pad", given, "a width cannot be negative; cut with x[...]")
    return tuple(before + size + after for size, (before, after) in zip(shape, widths, strict=True))


def tile(shape: _Shape, repeats: tuple[int, ...]) -> _Shape:
    """Each size times its number."""
    given = f"{show(shape)}, repeats {repeats}"
    if len(repeats) != len(shape):
        fail("tile", given, f"there must be one number for each of the {len(shape)} axes")
    sizes("tile", repeats)
    return tuple(size * times for size, times in zip(shape, repeats, strict=True))


def concatenate(*parts: _Shape, axis: int) -> _Shape:
    """The sizes along the axis added up; all others are the same."""
    first = parts[0]
    place = from_front(first, axis, "concatenate")
    for other in parts[1:]:
        alike = len(other) == len(first) and not any(
            differ(left, right)
            for number, (left, right) in enumerate(zip(first, other, strict=True))
            if number != place
        )
        if not alike:
            rule = f"all sizes but that of axis {axis} must be the same"
            fail("concatenate", f"{show(first)} and {show(other)}, axis {axis}", rule)
    whole = sum(other[place] for other in parts[1:]) + first[place]
    return (*first[:place], whole, *first[place + 1 :])


def stack(*parts: _Shape, axis: int) -> None:
    """All of one shape, and the axis one of the result."""
    for other in parts[1:]:
        if len(other) != len(parts[0]) or any(map(differ, parts[0], other)):
            fail("stack", f"{show(parts[0])} and {show(other)}", "the shapes must be equal")
    unsqueeze(parts[0], axis)


def split(shape: _Shape, parts: tuple[int, ...], *, axis: int) -> None:
    """The parts together have the size of the axis."""
    size = shape[from_front(shape, axis, "split")]
    if any(provably_less(part, 0) for part in parts) or differ(sum(parts), size):
        fail("split", f"{show(shape)} into {show(parts)}, axis {axis}", f"the parts must add up to {size}")


def topk(shape: _Shape, k: int, number: int) -> None:
    """The axis has as many elements."""
    size = shape[from_front(shape, number, "topk")]
    if k < 0 or provably_less(size, k):
        fail("topk", f"{show(shape)}, axis {number}", f"{k} elements of {size}")


def take(shape: _Shape, labels: _Shape, number: int) -> _Shape:
    """The axes of the labels in the place of the axis."""
    place = from_front(shape, number, "take")
    return (*shape[:place], *labels, *shape[place + 1 :])


def to_last(shape: _Shape, number: int, operation: str) -> _Shape:
    """The permutation that brings an axis to the end and leaves the others in order."""
    place = from_front(shape, number, operation)
    return (*range(place), *range(place + 1, len(shape)), place)


def inverse(order: tuple[int, ...]) -> _Shape:
    """The permutation that undoes this one."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2
