"""Max pooling for compiled steps."""

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from moonxi import shapes
from moonxi.backends.numpy import pooling, threads
from moonxi.backends.numpy.jit import plain
from moonxi.dtypes import HostArray
from moonxi.shapes import Pool2d, Window
from moonxi.traits.kernels import Request, Routine

_WORK: Final = 8
"""What a tap costs, in multiplications of a product of matrices."""


def _pool(request: Request) -> Pool2d[int]:
    options: dict[str, Any] = dict(request.options)
    return shapes.pool2d("max_pool2d", request.operands[0].shape, options.pop("kernel"), **options)


def forward(request: Request) -> Routine:
    """Images to the result."""
    pool = _pool(request)

    def run(x: HostArray, *, out: tuple[HostArray]) -> None:
        (y,) = out
        if not request.numba or not _last(y).flags.c_contiguous:
            pooling.largest(x, pool, y)
            return
        from moonxi.backends.numpy.jit import pooling as jit  # which imports Numba

        images, result = plain(_last(x)), _last(y)
        _each(pool, lambda part: jit.largest(images[part], _axis(pool.rows), _axis(pool.columns), result[part]))

    return run


def gradient(request: Request) -> Routine:
    """Images, gradient of the result and perhaps the result to the gradient of the images."""
    pool = _pool(request)

    def run(x: HostArray, dy: HostArray, y: HostArray | None = None, *, out: tuple[HostArray]) -> None:
        (dx,) = out
        if y is None or not request.numba or not _last(dx).flags.c_contiguous:
            pooling.largest_grad(x, dy, pool, y, dx)
            return
        from moonxi.backends.numpy.jit import pooling as jit  # which imports Numba

        images, most, given, target = plain(_last(x)), plain(_last(y)), plain(_last(dy)), _last(dx)

        def work(part: slice) -> None:
            taken = np.empty(pool.channels, np.bool_)
            rows, columns = _axis(pool.rows), _axis(pool.columns)
            jit.largest_gradient(images[part], most[part], given[part], rows, columns, taken, target[part])

        _each(pool, work)

    return run


def _last(images: HostArray) -> HostArray:
    return images.transpose(0, 2, 3, 1)


def _axis(window: Window[int]) -> tuple[int, int, int, int]:
    return window.kernel, window.stride, window.dilation, window.before


def _each(pool: Pool2d[int], function: Callable[[slice], object]) -> None:
    """The function of each part of the batch, on several threads if there is much to do."""
    work = prod(pool.shape) * pool.rows.kernel * pool.columns.kernel * _WORK
    threads.each(function, threads.parts(pool.batch, work))
