"""Products of matrices, on several threads where that pays."""

import numpy as np

from moonxi.backends.numpy import threads
from moonxi.dtypes import HostArray


def product(left: HostArray, right: HostArray) -> HostArray:
    """As ``numpy.matmul``; a large product is cut along its first axis, or one of two matrices along the longer."""
    rows, columns = left.shape[-2], right.shape[-1]
    work = left.size * columns
    if work < 2 * threads.WORTH:
        small: HostArray = np.matmul(left, right)
        return small
    out = np.empty((*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), rows, columns), left.dtype)

    def multiply_columns(part: slice) -> None:
        np.matmul(left, right[:, part], out=out[:, part])

    def multiply(part: slice) -> None:
        mine, other = (x[part] if x.ndim == out.ndim and len(x) == len(out) else x for x in (left, right))
        np.matmul(mine, right if out.ndim == 2 else other, out=out[part])

    if out.ndim == 2 and rows < columns:
        threads.each(multiply_columns, threads.parts(columns, work))
    else:
        threads.each(multiply, threads.parts(len(out), work))
    return out
