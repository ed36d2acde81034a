"""Convolution by a kernel of 3 x 3 with stride 1, tile by tile, forward and backward (Lavin and Gray 2016).

Pixels and kernel are transformed such that a tile takes few products for its results: one product of matrices for each
pixel of a tile, over all tiles at once. Blocks of images go through all of it at a time, so that what lies between the
products stays in the cache.
"""

from math import prod
from typing import Final

import numpy as np

from moonxi.backends.numpy import threads
from moonxi.backends.numpy.axis_tiles import AxisTiles
from moonxi.backends.numpy.jit import plain
from moonxi.backends.numpy.large_tiles import LargeTiles
from moonxi.backends.numpy.pair_tiles import PairTiles
from moonxi.backends.numpy.small_tiles import CompiledSmallTiles, SmallTiles
from moonxi.backends.numpy.tiles import Tiles, array
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d

_BLOCK: Final = 1 << 18
"""Numbers of a block of transformed images: with as many results and what lies between they fit into the cache."""
_KERNEL_WORK: Final = 48
"""What a number of a transformed kernel costs, in multiplications of a product of matrices."""
_TURNED: Final = 1 << 14
"""Entries of a matrix of the kernel up to which it is written for the product as it is: OpenBLAS is slower by a third
with the transpose of a small one, and a larger one takes too long to turn."""
_LEAST: Final = 16
"""Channels from which on the products cost more than the transforms."""


def tiles_for(conv: Conv2d[int], *, large: bool, numba: bool) -> Tiles | None:
    """The tiles for a convolution; None if it is not of this kind, or has too few channels."""
    windows = conv.rows, conv.columns
    if (
        conv.groups != 1
        or min(conv.inputs, conv.outputs) < _LEAST
        or conv.batch == 0
        or any(one.kernel != 3 or one.stride != 1 or one.dilation != 1 for one in windows)
    ):
        return None
    if PairTiles.fit(conv):
        return PairTiles()
    if any(one.count < 3 for one in windows):
        return None
    small: Tiles = CompiledSmallTiles() if numba else SmallTiles()
    if not large:
        return small
    wide = AxisTiles() if AxisTiles.fit(conv) else LargeTiles()
    products = [one.matrices * prod(one.grid(conv)) for one in (wide, small)]
    return wide if products[0] < 0.8 * products[1] else small


def convolve(
    x: HostArray, weight: HostArray, bias: HostArray | None, conv: Conv2d[int], tiles: Tiles, out: HostArray
) -> None:
    """The result of a convolution, into ``(batch, outputs, height, width)``."""
    if weight[:, :, 0, 0].size <= _TURNED:
        kernel = _kernel(weight.transpose(1, 0, 2, 3), tiles)
    else:
        kernel = _kernel(weight, tiles).transpose(0, 2, 1)
    images, results = _images(x, tiles), _images(out, tiles)
    offset = np.zeros(conv.outputs, x.dtype) if bias is None else np.array(bias)

    def work(part: slice) -> None:
        tiles.write_results(_products(tiles.pixels(images[part], conv), kernel), offset, conv, results[part])

    threads.each(work, _parts(conv, tiles))
    if not np.may_share_memory(results, out):
        out[...] = results.transpose(0, 3, 1, 2)


def gradients(
    x: HostArray | None,
    dy: HostArray,
    weight: HostArray | None,
    conv: Conv2d[int],
    tiles: Tiles,
    dx: HostArray | None,
    dw: HostArray | None,
) -> None:
    """The gradients of images and weight, each if there is an array for it; ``x`` or ``weight`` may else be missing."""
    kernel = None if dx is None or weight is None else _kernel(weight, tiles)
    images = None if x is None or dw is None else _images(x, tiles)
    gradient = _images(dy, tiles)
    target = None if dx is None else _images(dx, tiles)

    def work(part: slice) -> HostArray | None:
        results = tiles.expanded(gradient[part], conv)
        total = None
        if images is not None:
            total = np.matmul(results.transpose(0, 2, 1), tiles.pixels(images[part], conv))
        if target is not None and kernel is not None:
            tiles.spread(_products(results, kernel), conv, target[part])
        return total

    totals = [total for total in threads.each(work, _parts(conv, tiles)) if total is not None]
    if dw is not None:
        first, *others = totals

        def finish(part: slice) -> None:
            mine = first[:, part]
            for other in others:
                mine += other[:, part]
            tiles.write_kernel_gradient(mine, dw[part])

        threads.each(finish, _parts_of_kernel(dw, tiles))
    if dx is not None and target is not None and not np.may_share_memory(target, dx):
        dx[...] = target.transpose(0, 3, 1, 2)


def _kernel(weight: HostArray, tiles: Tiles) -> HostArray:
    """The weight ``(a, b, 3, 3)`` as matrices ``(a, b)``."""
    matrices = array("kernel", (tiles.matrices, *weight.shape[:2]), weight.dtype)
    threads.each(lambda part: tiles.write_kernel(weight[part], matrices[:, part]), _parts_of_kernel(weight, tiles))
    return matrices


def _parts_of_kernel(weight: HostArray, tiles: Tiles) -> list[slice]:
    """Parts of its first axis."""
    return threads.parts(len(weight), prod(weight.shape[:2]) * tiles.matrices * _KERNEL_WORK)


def _images(x: HostArray, tiles: Tiles) -> HostArray:
    """``(images, height, width, channels)``, a copy if the tiles need one."""
    images = x.transpose(0, 2, 3, 1)
    return plain(images) if tiles.plain else images


def _parts(conv: Conv2d[int], tiles: Tiles) -> list[slice]:
    """Blocks of images."""
    numbers = tiles.matrices * prod(tiles.grid(conv))
    work = conv.batch * numbers * conv.inputs * conv.outputs
    return threads.parts(conv.batch, work, most=_BLOCK // (numbers * max(conv.inputs, conv.outputs)))


def _products(pixels: HostArray, kernel: HostArray) -> HostArray:
    """Each of the matrices of tiles by its matrix of the kernel."""
    products = array("products", (len(kernel), pixels.shape[1], kernel.shape[2]), pixels.dtype)
    np.matmul(pixels, kernel, out=products)
    return products
