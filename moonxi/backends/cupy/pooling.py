"""Pooling. Images are ``(batch, channels, height, width)``; results lie with the channels last if the images do."""

from typing import Final

from moonxi.backends.cupy.convolution import channels_last
from moonxi.backends.cupy.layouts import is_dense, ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.windows import images
from moonxi.shapes import Pool2d
from moonxi.traits import Shape

_NARROW: Final = 1 << 30
"""Elements for which indices of 32 bits are enough, also of what windows see beyond the edge."""


def largest(space: Space, x: DeviceArray, pool: Pool2d[int]) -> DeviceArray:
    """The largest in each window, NaN if one is."""
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


def largest_grad(space: Space, x: DeviceArray, dy: DeviceArray, pool: Pool2d[int]) -> DeviceArray:
    """The gradient of the images: that of each place goes to the first largest of its window."""
    last = _lies_last(x)
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
