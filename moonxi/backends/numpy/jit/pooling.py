"""Max pooling of images ``(images, height, width, channels)``, each window once. NaN wins; of equal ones the first."""

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.numpy.jit.compiling import compiled
from moonxi.dtypes import HostArray

type Axis = tuple[int, int, int, int]
"""Taps, stride, dilation, and the width of the padding before."""


@compiled
def largest(x: HostArray, rows: Axis, columns: Axis, y: HostArray) -> None:
    """The largest in each window."""
    batch, height, width, channels = x.shape
    for n in range(batch):
        for down in range(y.shape[1]):
            for across in range(y.shape[2]):
                target = y[n, down, across]
                target[:] = -np.inf
                for i in range(rows[0]):
                    row = down * rows[1] + i * rows[2] - rows[3]
                    if row < 0 or row >= height:
                        continue
                    for j in range(columns[0]):
                        column = across * columns[1] + j * columns[2] - columns[3]
                        if column < 0 or column >= width:
                            continue
                        values = x[n, row, column]
                        for c in range(channels):
                            wins = values[c] > target[c] or values[c] != values[c]
                            target[c] = values[c] if wins else target[c]


@compiled
def largest_gradient(
    x: HostArray, y: HostArray, dy: HostArray, rows: Axis, columns: Axis, taken: NDArray[np.bool_], dx: HostArray
) -> None:
    """``y`` is the result, ``taken`` memory for each channel."""
    batch, height, width, channels = x.shape
    zero = x.dtype.type(0.0)
    dx[...] = zero
    for n in range(batch):
        for down in range(y.shape[1]):
            for across in range(y.shape[2]):
                most, given = y[n, down, across], dy[n, down, across]
                taken[:] = False
                for i in range(rows[0]):
                    row = down * rows[1] + i * rows[2] - rows[3]
                    if row < 0 or row >= height:
                        continue
                    for j in range(columns[0]):
                        column = across * columns[1] + j * columns[2] - columns[3]
                        if column < 0 or column >= width:
                            continue
                        values, target = x[n, row, column], dx[n, row, column]
                        for c in range(channels):
                            found = values[c] == most[c] or values[c] != values[c]
                            wins = found and not taken[c]
                            target[c] += given[c] if wins else zero
                            taken[c] = taken[c] or found
