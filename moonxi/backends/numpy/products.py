"""Products of matrices, on several threads where that pays.

OpenBLAS copies both matrices before it multiplies, unless the product is small. In a middling one the copies take a
sixth of the time: it is computed as several small ones, each of some rows by the whole right matrix, in one call.
"""

import numpy as np

from moonxi.backends.numpy import threads
from moonxi.dtypes import HostArray

_ROWS = 8
"""Rows of a small product at least: with fewer the right matrix is read too often."""


def product(left: HostArray, right: HostArray, out: HostArray | None = None) -> HostArray:
    """As ``numpy.matmul``; a large product is cut along its first axis, or one of two matrices along the longer."""
    rows, columns = left.shape[-2], right.shape[-1]
    work = left.size * columns
    threads.for_product(work)
    if work < 2 * threads.WORTH and (work <= threads.small_product() or left.ndim != 2 or right.ndim != 2):
        small: HostArray = np.matmul(left, right, out)
        return small
    shape = *np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), rows, columns
    result = np.empty(shape, left.dtype) if out is None else out
    if work < 2 * threads.WORTH:
        _multiply(left, right, result)
        return result

    def multiply_columns(part: slice) -> None:
        _multiply(left, right[:, part], result[:, part])

    def multiply(part: slice) -> None:
        mine, other = (x[part] if x.ndim == result.ndim and len(x) == len(result) else x for x in (left, right))
        if result.ndim == 2:
            _multiply(mine, right, result[part])
        else:
            np.matmul(mine, other, out=result[part])

    if result.ndim == 2 and rows < columns:
        threads.each(multiply_columns, threads.parts(columns, work))
    else:
        threads.each(multiply, threads.parts(len(result), work))
    return result


def pieces(rows: int, inner: int, columns: int) -> int:
    """Into how many equal pieces the product of two matrices is cut, if the right one `is_by_rows`.

    0 if it is shared, or they are not equal."""
    work = rows * inner * columns
    threads.for_product(work)
    if work >= 2 * threads.WORTH:
        return 0
    most = _most(inner * columns)
    count = -(-rows // most) if _ROWS <= most < rows else 1
    return 0 if rows % count else count


def is_by_rows(right: HostArray) -> bool:
    """Whether rows lie in one piece.

    By the transpose of a matrix OpenBLAS computes small products at a third of the speed."""
    return right.strides[1] == right.itemsize


def _most(right: int) -> int:
    """The rows of a product by a matrix of so many elements that are computed without copies."""
    return threads.small_product() // max(1, right)


def _multiply(left: HostArray, right: HostArray, out: HostArray) -> None:
    """Two matrices."""
    rows, inner = left.shape
    most = _most(right.size)
    if not _ROWS <= most < rows or not is_by_rows(right):
        np.matmul(left, right, out=out)
        return
    count = -(-rows // most)
    step = rows // count
    whole = count * step
    np.matmul(left[:whole].reshape(count, step, inner), right, out=out[:whole].reshape(count, step, -1))
    if whole < rows:
        np.matmul(left[whole:], right, out=out[whole:])
