"""Pooling on NumPy. Arrays are ``(batch, channels, height, width)``; results lie in memory as the images do."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.numpy import threads
from moonxi.backends.numpy.selection import bits, every_bit
from moonxi.backends.numpy.windows import Part, taps
from moonxi.dtypes import HostArray
from moonxi.shapes import Pool2d

_CHUNK = 1 << 19
"""Elements of images at a time, for several passes go over them: few enough to stay in the cache."""
_WORK = 4
"""What each tap costs an element, in multiplications of a product of matrices."""


def largest(x: HostArray, pool: Pool2d[int], out: HostArray | None = None) -> HostArray:
    """The largest in each window, NaN if one is; in ``out`` if that is given."""
    y = np.empty_like(x, shape=pool.shape) if out is None else out
    _each_part(x, lambda part: _largest(x[part], y[part], pool), pool)
    return y


def _largest(x: HostArray, y: HostArray, pool: Pool2d[int]) -> HostArray:
    y[...] = -np.inf
    for _, _, places, pixels in taps(pool.rows, pool.columns):
        target = y[..., *places]
        np.maximum(target, x[..., *pixels], out=target)
    return y


def first_largest(x: HostArray, pool: Pool2d[int]) -> NDArray[np.int64]:
    """Where in the image the largest of each window is, the first of equal ones."""
    found: NDArray[np.int64] = np.zeros_like(x, np.int64, shape=pool.shape)
    pixel = np.arange(pool.rows.size * pool.columns.size).reshape(pool.rows.size, pool.columns.size)
    for places, pixels, wins in reversed(list(_winners(x, largest(x, pool), pool))):
        np.copyto(found[..., *places], pixel[*pixels], where=wins)
    return found


def largest_grad(
    x: HostArray, dy: HostArray, pool: Pool2d[int], y: HostArray | None = None, out: HostArray | None = None
) -> HostArray:
    """The gradient of the images: that of each place goes to the first largest of its window.

    ``y`` may be the result of the pooling; the gradient is in ``out`` if that is given."""
    dx = np.empty_like(x) if out is None else out

    def spread(part: slice) -> None:
        images, target = x[part], dx[part]
        target[...] = 0.0
        left = bits(dy[part].copy("K"))
        most = _largest(images, np.empty_like(dy[part]), pool) if y is None else y[part]
        for places, pixels, wins in _winners(images, most, pool):
            rest = left[..., *places]
            given = every_bit(wins, x.dtype)
            given &= rest
            rest ^= given
            target[..., *pixels] += given.view(x.dtype)

    _each_part(x, spread, pool)
    return dx


def total(x: HostArray, pool: Pool2d[int]) -> HostArray:
    """The sum over each window."""
    y = np.zeros_like(x, shape=pool.shape)
    for _, _, places, pixels in taps(pool.rows, pool.columns):
        y[..., *places] += x[..., *pixels]
    return y


def total_grad(dy: HostArray, pool: Pool2d[int]) -> HostArray:
    """The gradient of the images: each gets that of every window it is in."""
    dx = np.zeros_like(dy, shape=(pool.batch, pool.channels, pool.rows.size, pool.columns.size))
    for _, _, places, pixels in taps(pool.rows, pool.columns):
        dx[..., *pixels] += dy[..., *places]
    return dx


def _each_part(x: HostArray, function: Callable[[slice], object], pool: Pool2d[int]) -> None:
    """The function of each part of the batch, on several threads if there is much to do."""
    work = x.size * pool.rows.kernel * pool.columns.kernel * _WORK
    threads.each(function, threads.parts(len(x), work, most=_CHUNK * len(x) // max(1, x.size)))


def _winners(x: HostArray, y: HostArray, pool: Pool2d[int]) -> Iterator[tuple[Part, Part, NDArray[np.bool_]]]:
    """For each tap, its places and pixels, and where it holds the largest of the window."""
    some_are_nan = bool(np.isnan(y).any())
    for _, _, places, pixels in taps(pool.rows, pool.columns):
        candidate = x[..., *pixels]
        wins: NDArray[np.bool_] = np.equal(candidate, y[..., *places])
        yield places, pixels, wins | np.isnan(candidate) if some_are_nan else wins
