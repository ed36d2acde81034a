"""Batch normalisation on NumPy, forward and backward, a few rows at a time so that they stay in the cache.

A row holds one value of each channel. Sums run in the element type over the rows of a block, in float64 over blocks.
"""

from collections.abc import Iterator

import numpy as np

from moonxi.dtypes import HostArray

_BLOCK = 1 << 16
"""Elements of a block of rows."""


def batch_norm(x: HostArray, weight: HostArray, bias: HostArray, eps: float) -> tuple[HostArray, HostArray, HostArray]:
    """The result of ``(n, c, ...)``, and mean and variance of each channel."""
    rows = _rows(x)
    y = np.empty_like(rows)
    total, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for block in _blocks(rows):
        total += _sum(rows[block])
    mean = (total / len(rows)).astype(x.dtype)
    for block in _blocks(rows):
        centred = np.subtract(rows[block], mean, out=y[block])
        squares += _sum(np.square(centred))
    variance = squares / len(rows)
    scale = (weight / np.sqrt(variance + eps)).astype(x.dtype)
    for block in _blocks(rows):
        part = y[block]
        part *= scale
        part += bias
    return _as_before(y, x), mean, variance.astype(x.dtype)


def batch_norm_grad(
    x: HostArray, dy: HostArray, weight: HostArray, mean: HostArray, variance: HostArray, eps: float
) -> tuple[HostArray, HostArray, HostArray]:
    """The gradients of tensor, weight and bias: the formulas of Ioffe and Szegedy (2015), section 3."""
    rows, gradient = _rows(x), _rows(dy)
    dx = np.empty_like(rows)
    total, product = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for block in _blocks(rows):
        total += _sum(gradient[block])
        centred = np.subtract(rows[block], mean, out=dx[block])
        product += _sum(centred * gradient[block])
    root = np.sqrt(variance.astype(np.float64) + eps)
    scale = (weight / root).astype(x.dtype)
    share = (total / len(rows)).astype(x.dtype)
    slope = (product / (len(rows) * root**2)).astype(x.dtype)
    for block in _blocks(rows):
        part = dx[block]
        part *= slope
        np.subtract(gradient[block], part, out=part)
        part -= share
        part *= scale
    return _as_before(dx, x), (product / root).astype(x.dtype), total.astype(x.dtype)


def _rows(x: HostArray) -> HostArray:
    """``(n, c, ...)`` as ``(n and the rest, c)``."""
    last = np.moveaxis(x, 1, -1)
    return np.ascontiguousarray(last).reshape(-1, x.shape[1])


def _as_before(rows: HostArray, x: HostArray) -> HostArray:
    """Rows as ``(n, c, ...)``."""
    return np.moveaxis(rows.reshape(len(x), *x.shape[2:], x.shape[1]), -1, 1)


def _blocks(rows: HostArray) -> Iterator[slice]:
    size = max(1, _BLOCK // max(1, rows.shape[1]))
    return (slice(first, first + size) for first in range(0, len(rows), size))


def _sum(block: HostArray) -> HostArray:
    """The sum of each column in float64; BLAS adds rows several times as fast as ``sum`` does."""
    total: HostArray = np.matmul(np.ones(len(block), block.dtype), block).astype(np.float64)
    return total
