"""Tiles of 4 x 4 results: F(4x4, 3x3) of Lavin and Gray (2016).

A tile of 6 x 6 pixels takes 36 products for 16 results: a quarter of the multiplications of a product of patches, where
tiles of 2 x 2 take 4/9. The transforms are products too, by one matrix for rows and columns together. In
float32 the errors are 2e-6 to 3e-6 of the result, where those of patches and of tiles of 2 x 2 are 3e-7 to 7e-7.
"""

from functools import cache
from typing import Final, override

import numpy as np
from numpy.lib.stride_tricks import as_strided

from moonxi.backends.numpy.tiles import Tiles, array, met
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d

PIXELS: Final = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ]
)
_KERNEL: Final = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
RESULTS: Final = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])


@cache
def _matrix(name: str, dtype: np.dtype[np.floating]) -> HostArray:
    """A transform of rows and columns together."""
    one = {"pixels": PIXELS, "kernel": _KERNEL, "results": RESULTS}[name]
    return np.kron(one, one).astype(dtype)


class LargeTiles(Tiles):
    """By NumPy. Rows and columns of tiles come first and the images after them."""

    size = 4
    matrices = 36

    @override
    def write_kernel(self, weight: HostArray, matrices: HostArray) -> None:
        rows = np.ascontiguousarray(weight.transpose(0, 2, 3, 1)).reshape(len(weight), 9, -1)
        np.matmul(_matrix("kernel", weight.dtype), rows, out=matrices.transpose(1, 0, 2))

    @override
    def write_kernel_gradient(self, matrices: HostArray, dw: HostArray) -> None:
        rows = dw.transpose(0, 2, 3, 1)
        target = rows if rows.flags.c_contiguous else np.empty(rows.shape, dw.dtype)
        np.matmul(_matrix("kernel", dw.dtype).T, matrices.transpose(1, 0, 2), out=target.reshape(len(rows), 9, -1))
        if target is not rows:
            rows[...] = target

    @override
    def pixels(self, images: HostArray, conv: Conv2d[int]) -> HostArray:
        batch, channels = images.shape[0], images.shape[3]
        down, across = self.grid(conv)
        (rows, rows_to), (columns, columns_to) = met(conv.rows, 4), met(conv.columns, 4)
        padded = array("pixels", (4 * down + 2, 4 * across + 2, batch, channels), images.dtype)
        padded[: rows_to.start] = padded[rows_to.stop :] = 0.0
        padded[:, : columns_to.start] = padded[:, columns_to.stop :] = 0.0
        np.copyto(padded[rows_to, columns_to], images[:, rows, columns].transpose(1, 2, 0, 3))
        gathered = array("gathered", (6, 6, down, across, batch, channels), images.dtype)
        np.copyto(gathered, _parts(padded, 0, 0, 6, 6, down, across))
        whole = array("transformed", (36, gathered.size // 36), images.dtype)
        np.matmul(_matrix("pixels", images.dtype), gathered.reshape(36, -1), out=whole)
        return whole.reshape(36, -1, channels)

    @override
    def spread(self, tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        batch, channels = dx.shape[0], dx.shape[3]
        down, across = self.grid(conv)
        (rows, rows_from), (columns, columns_from) = met(conv.rows, 4), met(conv.columns, 4)
        flat = array("gathered", (36, tiles.size // 36), dx.dtype)
        np.matmul(_matrix("pixels", dx.dtype).T, tiles.reshape(36, -1), out=flat)
        pixels = flat.reshape(6, 6, down, across, batch, channels)
        padded = array("pixels", (4 * down + 2, 4 * across + 2, batch, channels), dx.dtype)
        padded[4 * down :] = 0.0
        padded[:, 4 * across :] = 0.0
        np.copyto(_parts(padded, 0, 0, 4, 4, down, across), pixels[:4, :4])
        for row, column, high, wide in ((4, 0, 2, 4), (0, 4, 4, 2), (4, 4, 2, 2)):  # where tiles overlap
            target = _parts(padded, row, column, high, wide, down, across)
            target += pixels[row : row + high, column : column + wide]
        if dx[:, rows, columns].shape != dx.shape:
            dx[...] = 0.0
        np.copyto(dx[:, rows, columns].transpose(1, 2, 0, 3), padded[rows_from, columns_from])

    @override
    def write_results(self, tiles: HostArray, bias: HostArray, conv: Conv2d[int], results: HostArray) -> None:
        down, across = self.grid(conv)
        flat = array("gathered", (16, tiles.size // 36), tiles.dtype)
        np.matmul(_matrix("results", tiles.dtype), tiles.reshape(36, -1), out=flat)
        places = flat.reshape(4, 4, down, across, len(results), conv.outputs)
        for row in range(4):
            for column in range(4):
                target = results[:, row::4, column::4].transpose(1, 2, 0, 3)
                np.add(places[row, column, : target.shape[0], : target.shape[1]], bias, out=target)

    @override
    def expanded(self, gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        batch, height, width, channels = gradient.shape
        down, across = self.grid(conv)
        places = array("gathered", (4, 4, down, across, batch, channels), gradient.dtype)
        if (height, width) != (4 * down, 4 * across):  # the last tile reaches beyond the image
            places[...] = 0.0
        for row in range(4):
            for column in range(4):
                source = gradient[:, row::4, column::4].transpose(1, 2, 0, 3)
                np.copyto(places[row, column, : source.shape[0], : source.shape[1]], source)
        whole = array("expanded", (36, places.size // 16), gradient.dtype)
        np.matmul(_matrix("results", gradient.dtype).T, places.reshape(16, -1), out=whole)
        return whole.reshape(36, -1, channels)


def _parts(padded: HostArray, row: int, column: int, high: int, wide: int, down: int, across: int) -> HostArray:
    """The pixels from a row and a column on in each tile: ``(high, wide, tiles down, tiles across, ...)``, a view."""
    rows, columns, *rest = padded.strides
    return as_strided(
        padded[row:, column:],
        (high, wide, down, across, *padded.shape[2:]),
        (rows, columns, 4 * rows, 4 * columns, *rest),
    )
