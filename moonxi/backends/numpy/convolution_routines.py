"""Convolutions for compiled steps: as the methods compute them, or by tiles where these take fewer multiplications."""

from typing import cast

from moonxi import shapes
from moonxi.backends.numpy import convolution, winograd
from moonxi.dtypes import HostArray
from moonxi.shapes import ConvOptions
from moonxi.traits.kernels import Request, Routine

type Outs = tuple[HostArray | None, ...]


def _options(request: Request) -> ConvOptions:
    return cast(ConvOptions, request.options)  # they are those of the operation


def forward(request: Request) -> Routine:
    """Images, weight and perhaps a bias to the result."""
    x, weight, *_ = (form.shape for form in request.operands)
    conv = shapes.conv2d(x, weight, **_options(request))
    tiles = winograd.tiles_for(conv, large=request.large_tiles, numba=request.numba)

    def run(x: HostArray, weight: HostArray, bias: HostArray | None = None, *, out: Outs) -> None:
        (y,) = out
        assert y is not None, "somebody needs the result"
        if tiles is None:
            convolution.convolve(x, weight, bias, conv, y)
        else:
            winograd.convolve(x, weight, bias, conv, tiles, y)

    return run


def gradients(request: Request) -> Routine:
    """Images, gradient of the result and weight to the gradients of images and weight."""
    x, _, weight = (form.shape for form in request.operands)
    of_images, of_weight = request.results
    images = x if of_images is None else of_images.shape
    kernel = weight if of_weight is None else of_weight.shape
    conv = shapes.conv2d(images, kernel, **_options(request))
    tiles = winograd.tiles_for(conv, large=request.large_tiles, numba=request.numba)

    def run(x: HostArray, dy: HostArray, weight: HostArray, *, out: Outs) -> None:
        dx, dw = out
        if tiles is not None:
            winograd.gradients(x, dy, weight, conv, tiles, dx, dw)
            return
        if dx is not None:
            convolution.input_grad(dy, weight, conv, dx)
        if dw is not None:
            convolution.weight_grad(x, dy, conv, dw)

    return run
