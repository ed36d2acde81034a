"""Views: the same elements in device memory with other sizes and strides. Nothing here touches the device."""

from functools import lru_cache
from math import prod

from moonxi.backends.cupy.layouts import Strides, broadcast, merged, row_major
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.traits import Index, Shape


def permuted(x: DeviceArray, axes: tuple[int, ...]) -> DeviceArray:
    """Axis ``i`` of the view is axis ``axes[i]``."""
    return x.turned(tuple([x.shape[axis] for axis in axes]), tuple([x.strides[axis] for axis in axes]))


def repeated(x: DeviceArray, shape: Shape) -> DeviceArray:
    """Broadcast to a shape."""
    if shape == x.shape:
        return x.turned(shape, x.strides)
    return x.view(shape, broadcast(x.shape, x.strides, shape))


def reshaped(space: Space, x: DeviceArray, shape: Shape) -> DeviceArray:
    """The elements in row-major order in another shape; a copy only where the strides cannot say it."""
    strides = _reshaped(x.shape, x.strides, shape)
    if strides is None:
        x = space.compact(x)
        strides = row_major(shape)
    return x.turned(shape, strides)


@lru_cache(maxsize=4096)
def _reshaped(shape: Shape, strides: Strides, wanted: Shape) -> Strides | None:
    """The strides of the other shape, or None if there are none: each merged axis is split anew, from the last on."""
    if prod(shape) == 0:
        return row_major(wanted)
    sizes, (own,) = merged(shape, strides)
    result: list[int] = []
    rest, step = 1, 1
    for size in reversed(wanted):
        if size == 1:
            result.append(step)
            continue
        if rest == 1:
            rest, step = sizes.pop(), own.pop()
        if rest % size:
            return None
        result.append(step)
        rest, step = rest // size, step * size
    return tuple(reversed(result))


def part(x: DeviceArray, index: Index) -> DeviceArray:
    """What an index selects; the index is known to fit."""
    items = index if isinstance(index, tuple) else (index,)
    named = sum(1 for one in items if one is not None and one is not ...)
    rest = len(x.shape) - named
    shape: list[int] = []
    strides: list[int] = []
    offset = position = 0
    for one in items if any(one is ... for one in items) else (*items, ...):
        if one is None:
            shape.append(1)
            strides.append(0)
        elif isinstance(one, slice):
            start, stop, step = one.indices(x.shape[position])
            length = len(range(start, stop, step))
            shape.append(length)
            strides.append(x.strides[position] * step)
            offset += start * x.strides[position] if length else 0
            position += 1
        elif isinstance(one, int):
            size = x.shape[position]
            offset += (one + size if one < 0 else one) * x.strides[position]
            position += 1
        else:
            shape.extend(x.shape[position : position + rest])
            strides.extend(x.strides[position : position + rest])
            position += rest
    return x.view(tuple(shape), tuple(strides), offset if prod(shape) else 0)
