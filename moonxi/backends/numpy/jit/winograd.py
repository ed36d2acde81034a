"""The transforms of `moonxi.backends.numpy.winograd`, each in one pass from images to tiles or back.

Tiles are ``(16, images and tiles, channels)``; images are ``(images, height, width, channels)``. Pixels beyond the edge
are zeros, and what would be added there is dropped. ``top`` and ``left`` are the widths of the padding.
"""

import numpy as np

from moonxi.backends.numpy.jit.compiling import compiled
from moonxi.dtypes import HostArray


@compiled
def transform(images: HostArray, top: int, left: int, down: int, across: int, tiles: HostArray) -> None:
    """From images to tiles of 4 x 4 pixels, transformed."""
    batch, height, width, channels = images.shape
    zero = np.zeros(channels, images.dtype)
    half = np.empty((4, 4, channels), images.dtype)
    place = 0
    for n in range(batch):
        for row in range(down):
            y = 2 * row - top
            for column in range(across):
                x = 2 * column - left
                for j in range(4):
                    inside = 0 <= x + j < width
                    d0 = images[n, y, x + j] if inside and 0 <= y < height else zero
                    d1 = images[n, y + 1, x + j] if inside and 0 <= y + 1 < height else zero
                    d2 = images[n, y + 2, x + j] if inside and 0 <= y + 2 < height else zero
                    d3 = images[n, y + 3, x + j] if inside and 0 <= y + 3 < height else zero
                    h0, h1, h2, h3 = half[0, j], half[1, j], half[2, j], half[3, j]
                    for c in range(channels):
                        h0[c] = d0[c] - d2[c]
                        h1[c] = d1[c] + d2[c]
                        h2[c] = d2[c] - d1[c]
                        h3[c] = d3[c] - d1[c]
                for i in range(4):
                    h0, h1, h2, h3 = half[i, 0], half[i, 1], half[i, 2], half[i, 3]
                    t0, t1 = tiles[4 * i, place], tiles[4 * i + 1, place]
                    t2, t3 = tiles[4 * i + 2, place], tiles[4 * i + 3, place]
                    for c in range(channels):
                        t0[c] = h0[c] - h2[c]
                        t1[c] = h1[c] + h2[c]
                        t2[c] = h2[c] - h1[c]
                        t3[c] = h3[c] - h1[c]
                place += 1


@compiled
def spread(tiles: HostArray, top: int, left: int, down: int, across: int, images: HostArray) -> None:
    """The adjoint of `transform`."""
    batch, height, width, channels = images.shape
    half = np.empty((4, 4, channels), images.dtype)
    lost = np.empty(channels, images.dtype)
    images[...] = 0.0
    place = 0
    for n in range(batch):
        for row in range(down):
            y = 2 * row - top
            for column in range(across):
                x = 2 * column - left
                for j in range(4):
                    t0, t1, t2, t3 = tiles[j, place], tiles[4 + j, place], tiles[8 + j, place], tiles[12 + j, place]
                    h0, h1, h2, h3 = half[0, j], half[1, j], half[2, j], half[3, j]
                    for c in range(channels):
                        h0[c] = t0[c]
                        h1[c] = t1[c] - t2[c] - t3[c]
                        h2[c] = t1[c] + t2[c] - t0[c]
                        h3[c] = t3[c]
                for i in range(4):
                    if 0 <= y + i < height:
                        h0, h1, h2, h3 = half[i, 0], half[i, 1], half[i, 2], half[i, 3]
                        d0 = images[n, y + i, x] if 0 <= x < width else lost
                        d1 = images[n, y + i, x + 1] if 0 <= x + 1 < width else lost
                        d2 = images[n, y + i, x + 2] if 0 <= x + 2 < width else lost
                        d3 = images[n, y + i, x + 3] if 0 <= x + 3 < width else lost
                        for c in range(channels):
                            d0[c] += h0[c]
                            d1[c] += h1[c] - h2[c] - h3[c]
                            d2[c] += h1[c] + h2[c] - h0[c]
                            d3[c] += h3[c]
                place += 1


@compiled
def results(tiles: HostArray, bias: HostArray, down: int, across: int, images: HostArray) -> None:
    """From products to images of results, plus a bias for each channel."""
    batch, height, width, channels = images.shape
    half = np.empty((2, 4, channels), images.dtype)
    lost = np.empty(channels, images.dtype)
    place = 0
    for n in range(batch):
        for row in range(down):
            y = 2 * row
            for column in range(across):
                x = 2 * column
                for j in range(4):
                    t0, t1, t2, t3 = tiles[j, place], tiles[4 + j, place], tiles[8 + j, place], tiles[12 + j, place]
                    h0, h1 = half[0, j], half[1, j]
                    for c in range(channels):
                        h0[c] = t0[c] + t1[c] + t2[c]
                        h1[c] = t1[c] - t2[c] + t3[c]
                for i in range(2):
                    if y + i < height:
                        h0, h1, h2, h3 = half[i, 0], half[i, 1], half[i, 2], half[i, 3]
                        d0 = images[n, y + i, x]
                        d1 = images[n, y + i, x + 1] if x + 1 < width else lost
                        for c in range(channels):
                            d0[c] = h0[c] + h1[c] + h2[c] + bias[c]
                            d1[c] = h1[c] - h2[c] + h3[c] + bias[c]
                place += 1


@compiled
def expand(images: HostArray, down: int, across: int, tiles: HostArray) -> None:
    """The adjoint of `results`."""
    batch, height, width, channels = images.shape
    zero = np.zeros(channels, images.dtype)
    half = np.empty((4, 2, channels), images.dtype)
    place = 0
    for n in range(batch):
        for row in range(down):
            y = 2 * row
            for column in range(across):
                x = 2 * column
                for j in range(2):
                    d0 = images[n, y, x + j] if x + j < width else zero
                    d1 = images[n, y + 1, x + j] if x + j < width and y + 1 < height else zero
                    h0, h1, h2, h3 = half[0, j], half[1, j], half[2, j], half[3, j]
                    for c in range(channels):
                        h0[c] = d0[c]
                        h1[c] = d0[c] + d1[c]
                        h2[c] = d0[c] - d1[c]
                        h3[c] = d1[c]
                for i in range(4):
                    h0, h1 = half[i, 0], half[i, 1]
                    t0, t1 = tiles[4 * i, place], tiles[4 * i + 1, place]
                    t2, t3 = tiles[4 * i + 2, place], tiles[4 * i + 3, place]
                    for c in range(channels):
                        t0[c] = h0[c]
                        t1[c] = h0[c] + h1[c]
                        t2[c] = h0[c] - h1[c]
                        t3[c] = h1[c]
                place += 1
