"""Max pooling for compiled steps."""

from typing import Any

from moonxi import shapes
from moonxi.backends.numpy import pooling
from moonxi.dtypes import HostArray
from moonxi.shapes import Pool2d
from moonxi.traits.kernels import Request, Routine


def _pool(request: Request) -> Pool2d[int]:
    options: dict[str, Any] = dict(request.options)
    return shapes.pool2d("max_pool2d", request.operands[0].shape, options.pop("kernel"), **options)


def forward(request: Request) -> Routine:
    """Images to the result."""
    pool = _pool(request)

    def run(x: HostArray, *, out: tuple[HostArray]) -> None:
        pooling.largest(x, pool, out[0])

    return run


def gradient(request: Request) -> Routine:
    """Images, gradient of the result and perhaps the result to the gradient of the images."""
    pool = _pool(request)

    def run(x: HostArray, dy: HostArray, y: HostArray | None = None, *, out: tuple[HostArray]) -> None:
        pooling.largest_grad(x, dy, pool, y, out[0])

    return run
