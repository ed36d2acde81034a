"""Pooling. Images are ``(batch, channels, height, width)``; results lie with the channels last if the images do."""

from typing import Final

from moonxi.backends.cupy import elementwise
from moonxi.backends.cupy.convolution import channels_last
from moonxi.backends.cupy.layouts import is_dense, ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.windows import images
from moonxi.shapes import Pool2d
from moonxi.traits import Shape

_BYTES: Final = 16
"""What a thread reads at a time."""
_NARROW: Final = 1 << 30
"""Elements for which indices of 32 bits are enough, also of what windows see beyond the edge."""


def largest(space: Space, x: DeviceArray, pool: Pool2d[int]) -> DeviceArray:
    """The largest in each window, NaN if one is."""
    if _goes_by_vectors(space, pool, x):
        out = channels_last(space, pool.shape)
        x.kept = pool, _largest_last(space, x, pool, out)
        return out
    return _pooled(space, "largest", x, pool)


def total(space: Space, x: DeviceArray, pool: Pool2d[int]) -> DeviceArray:
    """The sum over each window."""
    return _pooled(space, "total", x, pool)


def first_largest(space: Space, x: DeviceArray, pool: Pool2d[int]) -> DeviceArray:
    """Where in the image the largest of each window is, the first of equal ones: int64."""
    last = _lies_last(x)
    out = _empty(space.integers, pool.shape, last)
    how = images(pool.batch, pool.channels, pool.rows, pool.columns, x.strides)
    space.images.launch("largest_places", out.count, x.pointer, out.pointer, how, last, _narrow(x, out), out.count)
    return out


def largest_grad(
    space: Space, x: DeviceArray, dy: DeviceArray, pool: Pool2d[int], other: DeviceArray | None = None
) -> DeviceArray:
    """The gradient of the images: that of each place, or ``dy + other``, goes to the first largest of its window."""
    last = _lies_last(x)
    if _goes_by_vectors(space, pool, x):
        return _largest_grad_last(space, x, dy, pool, other)
    if other is not None:
        dy = elementwise.binary(space, "add", dy, other)
    chosen = first_largest(space, x, pool)
    dx = _empty(space, x.shape, last)
    dy = space.laid(dy, chosen.strides)
    how = images(pool.batch, pool.channels, pool.rows, pool.columns, dx.strides)
    space.images.launch(
        "largest_grad", dx.count, chosen.pointer, dy.pointer, dx.pointer, how, last, _narrow(dx, dy), dx.count
    )
    return dx


def total_grad(space: Space, dy: DeviceArray, pool: Pool2d[int]) -> DeviceArray:
    """The gradient of the images: each gets that of every window it is in."""
    last = _lies_last(dy)
    dx = _empty(space, (pool.batch, pool.channels, pool.rows.size, pool.columns.size), last)
    dy = space.laid(dy, _empty_strides(dy.shape, last))
    how = images(pool.batch, pool.channels, pool.rows, pool.columns, dx.strides)
    space.images.launch("total_grad", dx.count, dy.pointer, dx.pointer, how, last, _narrow(dx, dy), dx.count)
    return dx


def _pooled(space: Space, name: str, x: DeviceArray, pool: Pool2d[int]) -> DeviceArray:
    last = _lies_last(x)
    out = _empty(space, pool.shape, last)
    how = images(pool.batch, pool.channels, pool.rows, pool.columns, x.strides)
    space.images.launch(name, out.count, x.pointer, out.pointer, how, last, _narrow(x, out), out.count)
    return out


def _goes_by_vectors(space: Space, pool: Pool2d[int], x: DeviceArray) -> bool:
    """Whether a thread can take several channels at a time."""
    width = _BYTES // space.itemsize
    return bool(
        space.itemsize <= 4
        and pool.channels % width == 0
        and pool.rows.kernel * pool.columns.kernel < 255
        and x.count
        and _lies_last(x)
        and _narrow(x)
        and x.pointer % _BYTES == 0
    )


def _largest_last(space: Space, x: DeviceArray, pool: Pool2d[int], out: DeviceArray | None) -> DeviceArray:
    """Where in their windows the largest are, a byte each; and these themselves into ``out``."""
    taps = channels_last(space.booleans, pool.shape)
    how = images(pool.batch, pool.channels, pool.rows, pool.columns, x.strides)
    vectors = taps.count * space.itemsize // _BYTES
    target = 0 if out is None else out.pointer
    space.images.launch("largest_last", vectors, x.pointer, target, taps.pointer, how, vectors)
    return taps


def _largest_grad_last(
    space: Space, x: DeviceArray, dy: DeviceArray, pool: Pool2d[int], other: DeviceArray | None
) -> DeviceArray:
    dx = channels_last(space, x.shape)
    dy = _aligned(space, dy)
    if other is not None:
        other = _aligned(space, other)
    kept = x.kept
    taps = kept[1] if kept is not None and kept[0] == pool else _largest_last(space, x, pool, None)
    how = images(pool.batch, pool.channels, pool.rows, pool.columns, dx.strides)
    vectors = dx.count * space.itemsize // _BYTES
    more = 0 if other is None else other.pointer
    space.images.launch("largest_grad_last", vectors, taps.pointer, dy.pointer, more, dx.pointer, how, vectors)
    return dx


def _aligned(space: Space, dy: DeviceArray) -> DeviceArray:
    """With the channels last, from a multiple of 16 bytes on."""
    dy = space.laid(dy, ordered(dy.shape, (0, 2, 3, 1)))
    if dy.pointer % _BYTES:
        copy = space.like(dy)
        space.copy(dy, copy)
        return copy
    return dy


def _narrow(*arrays: DeviceArray) -> int:
    """Whether indices of 32 bits are enough, 1 or 0."""
    return int(all(array.dense and array.count < _NARROW for array in arrays))


def _lies_last(x: DeviceArray) -> int:
    """Whether the channels lie last in memory, 1 or 0."""
    return int(is_dense(x.shape, x.strides) and x.strides == ordered(x.shape, (0, 2, 3, 1)))


def _empty(space: Space, shape: Shape, last: int) -> DeviceArray:
    return channels_last(space, shape) if last else space.empty(shape)


def _empty_strides(shape: Shape, last: int) -> tuple[int, ...]:
    return ordered(shape, (0, 2, 3, 1) if last else (0, 1, 2, 3))
