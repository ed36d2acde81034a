"""Batch normalisation on NumPy, forward and backward, a few rows at a time so that they stay in the cache.

A row holds one value of each channel. Sums run in the element type over a few hundred rows, in float64 over those sums.
"""

from collections.abc import Callable

import numpy as np

from moonxi.backends.numpy import threads
from moonxi.dtypes import HostArray

_BLOCK = 1 << 18
"""Elements of a block of rows."""
_RUN = 256
"""Rows that are summed in the element type."""
_WORK = 16
"""What an element costs in each pass, in multiplications of a product of matrices."""


def batch_norm(x: HostArray, weight: HostArray, bias: HostArray, eps: float) -> tuple[HostArray, HostArray, HostArray]:
    """The result of ``(n, c, ...)``, and mean and variance of each channel."""
    rows = _rows(x)
    y = np.empty_like(rows)
    mean = (_total(rows, lambda block: column_sums(rows[block])) / len(rows)).astype(x.dtype)

    def squares(block: slice) -> HostArray:
        return column_sums(np.square(np.subtract(rows[block], mean, out=y[block])))

    variance = _total(rows, squares) / len(rows)
    scale = (weight / np.sqrt(variance + eps)).astype(x.dtype)

    def finish(block: slice) -> None:
        part = y[block]
        part *= scale
        part += bias

    _each_block(rows, finish)
    return _as_before(y, x), mean, variance.astype(x.dtype)


def batch_norm_grad(
    x: HostArray, dy: HostArray, weight: HostArray, mean: HostArray, variance: HostArray, eps: float
) -> tuple[HostArray, HostArray, HostArray]:
    """The gradients of tensor, weight and bias: the formulas of Ioffe and Szegedy (2015), section 3."""
    rows, gradient = _rows(x), _rows(dy)
    dx = np.empty_like(rows)

    def sums(block: slice) -> HostArray:
        centred = np.subtract(rows[block], mean, out=dx[block])
        return np.stack([column_sums(gradient[block]), column_sums(centred * gradient[block])])

    total, product = _total(rows, sums)
    root = np.sqrt(variance.astype(np.float64) + eps)
    scale = (weight / root).astype(x.dtype)
    share = (total / len(rows)).astype(x.dtype)
    slope = (product / (len(rows) * root**2)).astype(x.dtype)

    def finish(block: slice) -> None:
        part = dx[block]
        part *= slope
        np.subtract(gradient[block], part, out=part)
        part -= share
        part *= scale

    _each_block(rows, finish)
    return _as_before(dx, x), (product / root).astype(x.dtype), total.astype(x.dtype)


def _rows(x: HostArray) -> HostArray:
    """``(n, c, ...)`` as ``(n and the rest, c)``."""
    last = np.moveaxis(x, 1, -1)
    return np.ascontiguousarray(last).reshape(-1, x.shape[1])


def _as_before(rows: HostArray, x: HostArray) -> HostArray:
    """Rows as ``(n, c, ...)``."""
    return np.moveaxis(rows.reshape(len(x), *x.shape[2:], x.shape[1]), -1, 1)


def _each_block[R](rows: HostArray, function: Callable[[slice], R]) -> list[R]:
    """The function of every block of rows, on several threads if there are many."""
    return threads.each(function, threads.parts(len(rows), rows.size * _WORK, most=_BLOCK // max(1, rows.shape[1])))


def _total(rows: HostArray, function: Callable[[slice], HostArray]) -> HostArray:
    """The sum of the function's results over all blocks."""
    total: HostArray = np.sum(_each_block(rows, function), axis=0)
    return total


def column_sums(block: HostArray) -> HostArray:
    """The sum of each column in float64; BLAS adds rows several times as fast as ``sum`` does."""
    whole = len(block) // _RUN * _RUN
    runs = np.matmul(np.ones(_RUN, block.dtype), block[:whole].reshape(-1, _RUN, block.shape[1]))
    rest = np.matmul(np.ones(len(block) - whole, block.dtype), block[whole:])
    total: HostArray = np.sum(runs, axis=0, dtype=np.float64) + rest
    return total
