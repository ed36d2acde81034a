"""Products of matrices, on several threads where that pays."""

import numpy as np

from moonxi.backends.numpy import threads
from moonxi.dtypes import HostArray


def product(left: HostArray, right: HostArray, out: HostArray | None = None) -> HostArray:
    """As ``numpy.matmul``; a large product is cut along its first axis, or one of two matrices along the longer."""
    rows, columns = left.shape[-2], right.shape[-1]
    work = left.size * columns
    threads.for_product(work)
    if work < 2 * threads.WORTH:
        small: HostArray = np.matmul(left, right, out)
        return small
    shape = *np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), rows, columns
    result = np.empty(shape, left.dtype) if out is None else out

    def multiply_columns(part: slice) -> None:
        np.matmul(left, right[:, part], out=result[:, part])

    def multiply(part: slice) -> None:
        mine, other = (x[part] if x.ndim == result.ndim and len(x) == len(result) else x for x in (left, right))
        np.matmul(mine, right if result.ndim == 2 else other, out=result[part])

    if result.ndim == 2 and rows < columns:
        threads.each(multiply_columns, threads.parts(columns, work))
    else:
        threads.each(multiply, threads.parts(len(result), work))
    return result
