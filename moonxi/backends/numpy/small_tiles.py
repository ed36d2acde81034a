"""Tiles of 2 x 2 results: F(2x2, 3x3) of Lavin and Gray (2016), with NumPy or with Numba.

The transforms are sums and differences only. The sign of the last row of the transform of pixels is turned, which
spares the backward pass a copy:

- pixels: ``d0 - d2, d1 + d2, d2 - d1, d3 - d1``; results: ``m0 + m1 + m2, m1 - m2 + m3``;
- kernel: ``g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2``.

With NumPy the rows and columns of tiles come first and the images after them: each transform then runs along memory.
With Numba each transform is one pass, from images to tiles or back.
"""

from functools import cache
from math import prod
from types import ModuleType
from typing import override

import numpy as np

from moonxi.backends.numpy.tiles import Tiles, array, met
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d


class SmallTiles(Tiles):
    """By NumPy."""

    size = 2
    matrices = 16

    @override
    def write_kernel(self, weight: HostArray, matrices: HostArray) -> None:
        _write_kernel(weight, matrices.reshape(4, 4, *matrices.shape[1:]))

    @override
    def write_kernel_gradient(self, matrices: HostArray, dw: HostArray) -> None:
        _write_kernel_gradient(matrices.reshape(4, 4, *matrices.shape[1:]), dw)

    @override
    def pixels(self, images: HostArray, conv: Conv2d[int]) -> HostArray:
        return _transformed(images, conv, self.grid(conv)).reshape(16, -1, conv.inputs)

    @override
    def spread(self, tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        _spread(tiles.reshape(4, 4, *self.grid(conv), -1, conv.inputs), conv, dx)

    @override
    def write_results(self, tiles: HostArray, bias: HostArray, conv: Conv2d[int], results: HostArray) -> None:
        _write_results(tiles.reshape(4, 4, *self.grid(conv), -1, conv.outputs), bias, results)

    @override
    def expanded(self, gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        return _expanded(gradient, self.grid(conv)).reshape(16, -1, conv.outputs)


class CompiledSmallTiles(SmallTiles):
    """By Numba. Images are in order and may be written to."""

    plain = True

    @override
    def pixels(self, images: HostArray, conv: Conv2d[int]) -> HostArray:
        grid = self.grid(conv)
        tiles = array("transformed", (16, len(images) * prod(grid), conv.inputs), images.dtype)
        _jit().transform(images, conv.rows.before, conv.columns.before, *grid, tiles)
        return tiles

    @override
    def spread(self, tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        _jit().spread(tiles, conv.rows.before, conv.columns.before, *self.grid(conv), dx)

    @override
    def write_results(self, tiles: HostArray, bias: HostArray, conv: Conv2d[int], results: HostArray) -> None:
        _jit().results(tiles, bias, *self.grid(conv), results)

    @override
    def expanded(self, gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        grid = self.grid(conv)
        tiles = array("expanded", (16, len(gradient) * prod(grid), conv.outputs), gradient.dtype)
        _jit().expand(gradient, *grid, tiles)
        return tiles


@cache
def _jit() -> ModuleType:
    from moonxi.backends.numpy.jit import winograd  # which imports Numba

    return winograd


# -- kernel -----------------------------------------------------------------------------------------------------------


def _write_kernel(weight: HostArray, whole: HostArray) -> None:
    """The weight as ``(4, 4, outputs, inputs)``."""
    taps = weight.transpose(2, 3, 0, 1)
    down = np.empty((4, *taps.shape[1:]), weight.dtype)
    _kernel_axis(taps[0], taps[1], taps[2], down)
    _kernel_axis(down[:, 0], down[:, 1], down[:, 2], whole.transpose(1, 0, 2, 3))


def _kernel_axis(first: HostArray, middle: HostArray, last: HostArray, out: HostArray) -> None:
    np.copyto(out[0], first)
    np.add(first, last, out=out[1])
    out[1] *= 0.5
    half = middle * 0.5
    np.subtract(out[1], half, out=out[2])
    out[1] += half
    np.copyto(out[3], last)


def _write_kernel_gradient(whole: HostArray, dw: HostArray) -> None:
    """From the gradients of the 16 matrices to that of the weight: the adjoint of `_write_kernel`."""
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


def _transformed(images: HostArray, conv: Conv2d[int], grid: tuple[int, int]) -> HostArray:
    """``(images, height, width, channels)`` as ``(4, 4, tiles down, tiles across, images, channels)``."""
    batch, channels = images.shape[0], images.shape[3]
    down, across = grid
    (rows, rows_to), (columns, columns_to) = met(conv.rows, 2), met(conv.columns, 2)
    padded = array("pixels", (2 * down + 2, 2 * across + 2, batch, channels), images.dtype)
    padded[: rows_to.start] = padded[rows_to.stop :] = 0.0
    padded[:, : columns_to.start] = padded[:, columns_to.stop :] = 0.0
    np.copyto(padded[rows_to, columns_to], images[:, rows, columns].transpose(1, 2, 0, 3))
    half = array("rows", (4, down, 2 * across + 2, batch, channels), images.dtype)
    _pixel_axis(padded, half)
    whole = array("transformed", (4, 4, down, across, batch, channels), images.dtype)
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
    (rows, rows_from), (columns, columns_from) = met(conv.rows, 2), met(conv.columns, 2)
    half = array("rows", (4, down, 2 * across + 2, batch, channels), whole.dtype)
    _pixel_axis_adjoint(whole.transpose(1, 3, 0, 2, 4, 5), half.transpose(2, 0, 1, 3, 4))
    padded = array("pixels", (2 * down + 2, 2 * across + 2, batch, channels), whole.dtype)
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


def _write_results(whole: HostArray, bias: HostArray, results: HostArray) -> None:
    """From the products, which are lost, to ``(images, height, width, channels)``."""
    _result_axis(whole)
    ends = whole[::3]
    _result_axis(ends.transpose(1, 0, 2, 3, 4, 5))
    for row in (0, 1):
        for column in (0, 1):
            target = results[:, row::2, column::2].transpose(1, 2, 0, 3)
            source = ends[row, 3 * column, : target.shape[0], : target.shape[1]]
            np.add(source, bias, out=target)


def _result_axis(whole: HostArray) -> None:
    """The transform along the first axis, of 4 to the first and the last."""
    first, second, third, fourth = whole
    first += second
    first += third
    fourth += second
    fourth -= third


def _expanded(gradient: HostArray, grid: tuple[int, int]) -> HostArray:
    """The adjoint of `_write_results`: ``(4, 4, tiles down, tiles across, images, channels)``."""
    batch, _, _, channels = gradient.shape
    down, across = grid
    whole = array("expanded", (4, 4, down, across, batch, channels), gradient.dtype)
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
