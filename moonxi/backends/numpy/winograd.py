"""Convolution by a kernel of 3 x 3 with stride 1, as F(2x2, 3x3) of Lavin and Gray (2016), forward and backward.

A tile of 4 x 4 pixels gives 2 x 2 results by 16 products instead of 36, so that 16 products of matrices of all tiles
take 4/9 of the multiplications of a product of patches. The transforms are sums and differences only; the sign of the
last row of the input transform is turned, which spares the backward pass a copy:

- pixels: ``d0 - d2, d1 + d2, d2 - d1, d3 - d1``; results: ``m0 + m1 + m2, m1 - m2 + m3``;
- kernel: ``g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2``.

Blocks of images go through all of it at a time, so that what lies between the products stays in the cache. There the
rows and columns of tiles come first and the images after them: each transform then runs along memory.
"""

from functools import cache
from math import prod
from types import ModuleType
from typing import Final, override

import numpy as np

from moonxi.backends.numpy import scratch, threads
from moonxi.backends.numpy.jit import plain
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d, Window

_BLOCK: Final = 1 << 18
"""Numbers of a block of transformed images: with as many results and what lies between they fit into the cache."""
_LEAST: Final = 16
"""Channels from which on the products cost more than the transforms."""


def pays(conv: Conv2d[int]) -> bool:
    """Whether a convolution is of this kind, and has channels enough."""
    windows = conv.rows, conv.columns
    return (
        conv.groups == 1
        and min(conv.inputs, conv.outputs) >= _LEAST
        and conv.batch > 0
        and all(one.kernel == 3 and one.stride == one.dilation == 1 and one.count > 2 for one in windows)
    )


def convolve(
    x: HostArray, weight: HostArray, bias: HostArray | None, conv: Conv2d[int], out: HostArray, *, numba: bool = False
) -> None:
    """The result of a convolution, into ``(batch, outputs, height, width)``; ``numba`` is to do the transforms."""
    kernel = _kernel(weight, transposed=True)
    images, results = x.transpose(0, 2, 3, 1), out.transpose(0, 2, 3, 1)
    transforms: type[_Transforms] = _Transforms
    if numba and results.flags.c_contiguous:
        transforms, images = _CompiledTransforms, plain(images)
        bias = np.zeros(conv.outputs, x.dtype) if bias is None else np.array(bias)

    def work(part: slice) -> None:
        products = _products(transforms.pixels(images[part], conv), kernel)
        transforms.write_results(products, bias, conv, results[part])

    threads.each(work, _parts(conv))


def gradients(
    x: HostArray | None,
    dy: HostArray,
    weight: HostArray | None,
    conv: Conv2d[int],
    dx: HostArray | None,
    dw: HostArray | None,
    *,
    numba: bool = False,
) -> None:
    """The gradients of images and weight, each if there is an array for it; ``x`` or ``weight`` may else be missing."""
    kernel = None if dx is None or weight is None else _kernel(weight)
    images = None if x is None else x.transpose(0, 2, 3, 1)
    gradient = dy.transpose(0, 2, 3, 1)
    target = None if dx is None else dx.transpose(0, 2, 3, 1)
    transforms: type[_Transforms] = _Transforms
    if numba and (target is None or target.flags.c_contiguous):
        transforms, gradient = _CompiledTransforms, plain(gradient)
        images = None if images is None else plain(images)

    def work(part: slice) -> HostArray | None:
        results = transforms.expanded(gradient[part], conv)
        total = None
        if dw is not None and images is not None:
            total = np.matmul(results.transpose(0, 2, 1), transforms.pixels(images[part], conv))
        if target is not None and kernel is not None:
            transforms.spread(_products(results, kernel), conv, target[part])
        return total

    totals = [total for total in threads.each(work, _parts(conv)) if total is not None]
    if dw is not None:
        first, *others = totals
        for other in others:
            first += other
        _write_kernel_gradient(first.reshape(4, 4, conv.outputs, conv.inputs), dw)


def _parts(conv: Conv2d[int]) -> list[slice]:
    """Blocks of images."""
    tiles = _tiles(conv.rows) * _tiles(conv.columns)
    work = 16 * conv.batch * tiles * conv.inputs * conv.outputs
    return threads.parts(conv.batch, work, most=_BLOCK // (16 * tiles * max(conv.inputs, conv.outputs)))


def _tiles(window: Window[int]) -> int:
    return -(-window.count // 2)


def _array(name: str, shape: tuple[int, ...], dtype: np.dtype[np.floating]) -> HostArray:
    return scratch.array(f"winograd {name}", shape, dtype)


def _products(tiles: HostArray, kernel: HostArray) -> HostArray:
    """Each of the 16 matrices of tiles by its matrix of the kernel."""
    products = _array("products", (16, tiles.shape[1], kernel.shape[2]), tiles.dtype)
    np.matmul(tiles, kernel, out=products)
    return products


class _Transforms:
    """Between images ``(images, height, width, channels)`` and 16 matrices ``(tiles, channels)``."""

    @staticmethod
    def pixels(images: HostArray, conv: Conv2d[int]) -> HostArray:
        return _transformed(images, conv).reshape(16, -1, conv.inputs)

    @staticmethod
    def spread(tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        """The adjoint of `pixels`. The tiles are lost."""
        _spread(tiles.reshape(4, 4, *_grid(conv), -1, conv.inputs), conv, dx)

    @staticmethod
    def write_results(tiles: HostArray, bias: HostArray | None, conv: Conv2d[int], results: HostArray) -> None:
        """To the results. The tiles are lost."""
        _write_results(tiles.reshape(4, 4, *_grid(conv), -1, conv.outputs), bias, results)

    @staticmethod
    def expanded(gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        """The adjoint of `write_results`."""
        return _expanded(gradient, conv).reshape(16, -1, conv.outputs)


class _CompiledTransforms(_Transforms):
    """The same by Numba, each in one pass."""

    @staticmethod
    @override
    def pixels(images: HostArray, conv: Conv2d[int]) -> HostArray:
        tiles = _array("transformed", (16, len(images) * prod(_grid(conv)), conv.inputs), images.dtype)
        _jit().transform(images, conv.rows.before, conv.columns.before, *_grid(conv), tiles)
        return tiles

    @staticmethod
    @override
    def spread(tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        _jit().spread(tiles, conv.rows.before, conv.columns.before, *_grid(conv), dx)

    @staticmethod
    @override
    def write_results(tiles: HostArray, bias: HostArray | None, conv: Conv2d[int], results: HostArray) -> None:
        assert bias is not None, "zeros stand for none"
        _jit().results(tiles, bias, *_grid(conv), results)

    @staticmethod
    @override
    def expanded(gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        tiles = _array("expanded", (16, len(gradient) * prod(_grid(conv)), conv.outputs), gradient.dtype)
        _jit().expand(gradient, *_grid(conv), tiles)
        return tiles


@cache
def _jit() -> ModuleType:
    from moonxi.backends.numpy.jit import winograd  # which imports Numba

    return winograd


def _grid(conv: Conv2d[int]) -> tuple[int, int]:
    """Tiles down and across."""
    return _tiles(conv.rows), _tiles(conv.columns)


# -- kernel -----------------------------------------------------------------------------------------------------------


def _kernel(weight: HostArray, *, transposed: bool = False) -> HostArray:
    """The weight as 16 matrices ``(outputs, inputs)``, or transposed."""
    outputs, inputs = weight.shape[:2]
    taps = weight.transpose(2, 3, 0, 1)
    down = np.empty((4, 3, outputs, inputs), weight.dtype)
    _kernel_axis(taps[0], taps[1], taps[2], down)
    whole = np.empty((4, 4, outputs, inputs), weight.dtype)
    _kernel_axis(down[:, 0], down[:, 1], down[:, 2], whole.transpose(1, 0, 2, 3))
    kernel = whole.reshape(16, outputs, inputs)
    return np.ascontiguousarray(kernel.transpose(0, 2, 1)) if transposed else kernel


def _kernel_axis(first: HostArray, middle: HostArray, last: HostArray, out: HostArray) -> None:
    np.copyto(out[0], first)
    np.add(first, last, out=out[1])
    out[1] *= 0.5
    half = middle * 0.5
    np.subtract(out[1], half, out=out[2])
    out[1] += half
    np.copyto(out[3], last)


def _write_kernel_gradient(whole: HostArray, dw: HostArray) -> None:
    """From the gradients of the 16 matrices to that of the weight: the adjoint of `_kernel`."""
    down = np.empty((4, 3, *whole.shape[2:]), whole.dtype)
    _kernel_axis_adjoint(whole.transpose(1, 0, 2, 3), down.transpose(1, 0, 2, 3))
    taps = np.empty((3, 3, *whole.shape[2:]), whole.dtype)
    _kernel_axis_adjoint(down, taps)
    np.copyto(dw, taps.transpose(2, 3, 0, 1))


def _kernel_axis_adjoint(whole: HostArray, out: HostArray) -> None:
    np.add(whole[1], whole[2], out=out[0])
    out[0] *= 0.5
    np.add(out[0], whole[3], out=out[2])
    out[0] += whole[0]
    np.subtract(whole[1], whole[2], out=out[1])
    out[1] *= 0.5


# -- pixels -----------------------------------------------------------------------------------------------------------


def _met(window: Window[int]) -> tuple[slice, slice]:
    """The pixels that the tiles cover, and where these are among all that the tiles have room for."""
    first, last = max(0, -window.before), min(window.size, 2 * _tiles(window) + 2 - window.before)
    return slice(first, last), slice(first + window.before, last + window.before)


def _transformed(images: HostArray, conv: Conv2d[int]) -> HostArray:
    """``(images, height, width, channels)`` as ``(4, 4, tiles down, tiles across, images, channels)``."""
    batch, channels = images.shape[0], images.shape[3]
    down, across = _tiles(conv.rows), _tiles(conv.columns)
    (rows, rows_to), (columns, columns_to) = _met(conv.rows), _met(conv.columns)
    padded = _array("pixels", (2 * down + 2, 2 * across + 2, batch, channels), images.dtype)
    padded[: rows_to.start] = padded[rows_to.stop :] = 0.0
    padded[:, : columns_to.start] = padded[:, columns_to.stop :] = 0.0
    np.copyto(padded[rows_to, columns_to], images[:, rows, columns].transpose(1, 2, 0, 3))
    half = _array("rows", (4, down, 2 * across + 2, batch, channels), images.dtype)
    _pixel_axis(padded, half)
    whole = _array("transformed", (4, 4, down, across, batch, channels), images.dtype)
    _pixel_axis(half.transpose(2, 0, 1, 3, 4), whole.transpose(1, 3, 0, 2, 4, 5))
    return whole


def _pixel_axis(pixels: HostArray, out: HostArray) -> None:
    """The transform along the first axis: ``2 * tiles + 2`` pixels to ``(4, tiles)``."""
    first, second, third, fourth = pixels[:-2:2], pixels[1:-2:2], pixels[2::2], pixels[3::2]
    np.subtract(first, third, out=out[0])
    np.add(second, third, out=out[1])
    np.subtract(third, second, out=out[2])
    np.subtract(fourth, second, out=out[3])


def _spread(whole: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
    """The adjoint of `_transformed`, into ``(images, height, width, channels)``."""
    _, _, down, across, batch, channels = whole.shape
    (rows, rows_from), (columns, columns_from) = _met(conv.rows), _met(conv.columns)
    half = _array("rows", (4, down, 2 * across + 2, batch, channels), whole.dtype)
    _pixel_axis_adjoint(whole.transpose(1, 3, 0, 2, 4, 5), half.transpose(2, 0, 1, 3, 4))
    padded = _array("pixels", (2 * down + 2, 2 * across + 2, batch, channels), whole.dtype)
    _pixel_axis_adjoint(half, padded)
    if dx[:, rows, columns].shape != dx.shape:
        dx[...] = 0.0
    np.copyto(dx[:, rows, columns].transpose(1, 2, 0, 3), padded[rows_from, columns_from])


def _pixel_axis_adjoint(whole: HostArray, out: HostArray) -> None:
    """From ``(4, tiles)``, which are lost, to ``2 * tiles + 2`` pixels: each is in one tile or in two."""
    first, second, third, fourth = whole
    even, odd = out[::2], out[1::2]
    np.subtract(second, third, out=odd[:-1])
    odd[:-1] -= fourth
    odd[1:-1] += fourth[:-1]
    np.copyto(odd[-1], fourth[-1])
    second += third
    second -= first
    np.copyto(even[0], first[0])
    np.add(first[1:], second[:-1], out=even[1:-1])
    np.copyto(even[-1], second[-1])


# -- results ----------------------------------------------------------------------------------------------------------


def _write_results(whole: HostArray, bias: HostArray | None, results: HostArray) -> None:
    """From the products, which are lost, to ``(images, height, width, channels)``."""
    _result_axis(whole)
    ends = whole[::3]
    _result_axis(ends.transpose(1, 0, 2, 3, 4, 5))
    for row in (0, 1):
        for column in (0, 1):
            target = results[:, row::2, column::2].transpose(1, 2, 0, 3)
            source = ends[row, 3 * column, : target.shape[0], : target.shape[1]]
            if bias is None:
                np.copyto(target, source)
            else:
                np.add(source, bias, out=target)


def _result_axis(whole: HostArray) -> None:
    """The transform along the first axis, of 4 to the first and the last."""
    first, second, third, fourth = whole
    first += second
    first += third
    fourth += second
    fourth -= third


def _expanded(gradient: HostArray, conv: Conv2d[int]) -> HostArray:
    """The adjoint of `_write_results`: ``(4, 4, tiles down, tiles across, images, channels)``."""
    batch, _, _, channels = gradient.shape
    down, across = _tiles(conv.rows), _tiles(conv.columns)
    whole = _array("expanded", (4, 4, down, across, batch, channels), gradient.dtype)
    ends = whole[::3]
    for row in (0, 1):
        for column in (0, 1):
            source = gradient[:, row::2, column::2].transpose(1, 2, 0, 3)
            target = ends[row, 3 * column]
            if source.shape != target.shape:  # the last tile reaches beyond the image
                target[...] = 0.0
            np.copyto(target[: source.shape[0], : source.shape[1]], source)
    _expand_axis(ends.transpose(1, 0, 2, 3, 4, 5))
    _expand_axis(whole)
    return whole


def _expand_axis(whole: HostArray) -> None:
    np.add(whole[0], whole[3], out=whole[1])
    np.subtract(whole[0], whole[3], out=whole[2])
