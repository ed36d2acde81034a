"""Tiles of 4 x 4 results on small images: a transform is one product of matrices along each axis.

The matrix of an axis takes all its pixels to all its tiles, or back. Padding, and results beyond the image, are columns
and rows that it does not have, so that nothing is copied, filled or added up. Most of it is zeros in a long axis: then
`LargeTiles` is faster.
"""

from functools import cache
from typing import Final, override

import numpy as np

from moonxi.backends.numpy.large_tiles import PIXELS, RESULTS, LargeTiles
from moonxi.backends.numpy.tiles import array
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d

_LONGEST: Final = 5
"""Tiles along an axis up to which the zeros cost less than copies."""
_ONES: Final = 7
"""The matrix of products that the transform adds to all results of a tile."""


class AxisTiles(LargeTiles):
    """Matrices of tiles are ``(6, 6, tiles across, tiles down, images, channels)``."""

    @staticmethod
    def fit(conv: Conv2d[int]) -> bool:
        """Whether images are small enough."""
        return max(conv.rows.count, conv.columns.count) <= _LONGEST * LargeTiles.size

    @override
    def pixels(self, images: HostArray, conv: Conv2d[int]) -> HostArray:
        return _to_tiles("transformed", images, *_of_pixels(conv, images.dtype))

    @override
    def spread(self, tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        _to_images(tiles, *_of_pixels(conv, dx.dtype), dx)

    @override
    def write_results(self, tiles: HostArray, bias: HostArray, conv: Conv2d[int], results: HostArray) -> None:
        tiles[_ONES] += bias
        _to_images(tiles, *_of_results(conv, results.dtype), results)

    @override
    def expanded(self, gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        return _to_tiles("expanded", gradient, *_of_results(conv, gradient.dtype))


def _to_tiles(name: str, images: HostArray, down: HostArray, across: HostArray) -> HostArray:
    """``(images, height, width, channels)`` to ``(36, tiles, channels)``, by ``down`` and then by ``across``."""
    batch, height, width, channels = images.shape
    rows, columns = len(down) // 6, len(across) // 6
    half = array("half", (batch, rows, 6, width, channels), images.dtype)
    np.matmul(down, images.reshape(batch, height, -1), out=half.reshape(batch, rows * 6, -1))
    whole = array(name, (6, 6, columns, rows, batch, channels), images.dtype)
    np.matmul(across, half, out=_lines(whole))
    return whole.reshape(36, -1, channels)


def _to_images(tiles: HostArray, down: HostArray, across: HostArray, images: HostArray) -> None:
    """The adjoint of `_to_tiles`, into images."""
    batch, height, width, channels = images.shape
    rows, columns = len(down) // 6, len(across) // 6
    half = array("half", (batch, rows, 6, width, channels), images.dtype)
    np.matmul(across.T, _lines(tiles.reshape(6, 6, columns, rows, batch, channels)), out=half)
    target = images if images.flags.c_contiguous else array("images", images.shape, images.dtype)
    np.matmul(down.T, half.reshape(batch, rows * 6, -1), out=target.reshape(batch, height, -1))
    if target is not images:
        images[...] = target


def _lines(whole: HostArray) -> HostArray:
    """All tiles ``(6, 6, across, down, images, channels)`` as ``(images, down, 6, 6 and across, channels)``, a view."""
    _, _, columns, rows, batch, channels = whole.shape
    return whole.transpose(4, 3, 0, 1, 2, 5).reshape(batch, rows, 6, 6 * columns, channels)


def _of_pixels(conv: Conv2d[int], dtype: np.dtype[np.floating]) -> tuple[HostArray, HostArray]:
    rows, columns = ((one.count, one.size, one.before) for one in (conv.rows, conv.columns))
    return _axis("pixels", *rows, dtype)[0], _axis("pixels", *columns, dtype)[1]


def _of_results(conv: Conv2d[int], dtype: np.dtype[np.floating]) -> tuple[HostArray, HostArray]:
    rows, columns = ((one.count, one.count, 0) for one in (conv.rows, conv.columns))
    return _axis("results", *rows, dtype)[0], _axis("results", *columns, dtype)[1]


@cache
def _axis(kind: str, count: int, places: int, before: int, dtype: np.dtype[np.floating]) -> tuple[HostArray, HostArray]:
    """What each place along an axis gives to its tiles: ``(tiles and 6, places)`` and ``(6 and tiles, places)``."""
    one = PIXELS if kind == "pixels" else RESULTS.T
    tiles = -(-count // LargeTiles.size)
    whole = np.zeros((tiles, 6, places), dtype)
    for tile in range(tiles):
        for n in range(one.shape[1]):
            place = LargeTiles.size * tile - before + n
            if 0 <= place < places:
                whole[tile, :, place] = one[:, n]
    return whole.reshape(-1, places), np.ascontiguousarray(whole.transpose(1, 0, 2)).reshape(-1, places)
