"""The rules of what stands between brackets."""

from types import EllipsisType

from moonxi.dims import (
    Dim,
    Example,
    Size,
    ceil_div,
    example,
    maximum,
    minimum,
    provably_at_most,
    provably_less,
    symbolic,
)
from moonxi.errors import AxisError, OperandError
from moonxi.shapes.agreement import differ, known
from moonxi.shapes.arrays import Sizes, fail, show

type Item = Size | slice | EllipsisType | None


def index_kinds(index: object) -> None:
    """Refuse what NumPy would take as advanced indexing: arrays, lists, booleans."""
    for one in index if isinstance(index, tuple) else (index,):
        if isinstance(one, bool) or not (one is None or one is ... or isinstance(one, int | Dim | slice)):
            raise OperandError(
                f"index: {type(one).__name__} {one!r}: expected an integer, a slice, ... or None; "
                "choose elements by their value with x.where(mask, other)"
            )


def indexed(shape: Sizes, index: Item | tuple[Item, ...]) -> Sizes:
    """The shape of ``x[index]``."""
    items = index if isinstance(index, tuple) else (index,)
    given = f"{show(shape)}[{', '.join(_show_item(one) for one in items)}]"
    if items.count(...) > 1:
        fail("index", given, "at most one ... can stand in an index")
    named = sum(1 for one in items if one is not None and one is not ...)
    if named > len(shape):
        raise AxisError(f"index: {given}: {named} indices for {len(shape)} axes")
    rest = len(shape) - named
    result: list[Size] = []
    position = 0
    for one in items if ... in items else (*items, ...):
        if one is None:
            result.append(1)
        elif one is ...:
            result.extend(shape[position : position + rest])
            position += rest
        elif isinstance(one, slice):
            if one.step == 0:
                fail("index", given, "the step of a slice cannot be 0")
            result.append(slice_length(shape[position], one))
            position += 1
        elif isinstance(one, int | Dim):
            size = shape[position]
            if provably_at_most(size, one) or provably_less(size, -one):
                raise AxisError(f"index: {given}: index {one} is outside axis {position} of size {size}")
            position += 1
    return tuple(result)


def slice_length(size: Size, part: slice) -> Size:
    """How many elements of an axis of this size a slice selects."""
    ends = [one for one in (part.start, part.stop, part.step) if one is not None]
    if isinstance(size, int) and known(*ends):
        length = len(range(*part.indices(size)))
        if not any(isinstance(one, Example) for one in (size, *ends)):
            return length
        start, stop, step = (None if one is None else symbolic(one) for one in (part.start, part.stop, part.step))
        return example(length, slice_length(symbolic(size), slice(start, stop, step)))
    step = 1 if part.step is None else part.step
    if step > 0:
        start, stop = _bound(size, part.start, 0), _bound(size, part.stop, size)
        return maximum(ceil_div(stop - start, step), 0)
    # From the end: the elements are start, start - 1, ... down to stop + 1, and the bounds count as above.
    start = size - 1 if part.start is None else minimum(_from_front(size, part.start), size - 1)
    stop = -1 if part.stop is None else maximum(_from_front(size, part.stop), -1)
    return maximum(ceil_div(start - stop, -step), 0)


def put_slice[S: Size](shape: Sizes, index: Item | tuple[Item, ...], whole: tuple[S, ...]) -> tuple[S, ...]:
    """The part selected by ``index`` from ``whole`` must have this tensor's shape."""
    part = indexed(whole, index)
    if len(part) != len(shape) or any(map(differ, part, shape)):
        fail("put_slice", f"{show(shape)} into {show(whole)}", f"the index selects a part of shape {show(part)}")
    return whole


def _from_front(size: Size, bound: Size) -> Size:
    return size + bound if provably_less(bound, 0) else bound


def _bound(size: Size, bound: Size | None, default: Size) -> Size:
    """A bound of a slice, counted from the front and kept within the axis."""
    return default if bound is None else minimum(maximum(_from_front(size, bound), 0), size)


def _show_item(one: Item) -> str:
    if one is ...:
        return "..."
    if isinstance(one, slice):
        step = "" if one.step is None else f":{one.step}"
        return f"{'' if one.start is None else one.start}:{'' if one.stop is None else one.stop}{step}"
    return str(one)
