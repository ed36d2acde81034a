"""Batch norm over rows ``(places, channels)``, each pass once over memory.

Sums run in the element type over a few rows and in float64 over these.
"""

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.numpy.jit.compiling import compiled
from moonxi.dtypes import HostArray

type Totals = NDArray[np.float64]

_RUN = 64


@compiled
def sums(x: HostArray, total: Totals) -> None:
    """Each channel's sum, added to ``total``."""
    rows, channels = x.shape
    part = np.zeros(channels, x.dtype)
    for first in range(0, rows, _RUN):
        part[:] = 0.0
        for row in range(first, min(first + _RUN, rows)):
            values = x[row]
            for c in range(channels):
                part[c] += values[c]
        for c in range(channels):
            total[c] += part[c]


@compiled
def squares(x: HostArray, mean: HostArray, total: Totals) -> None:
    """Each channel's sum of squares about the mean, added to ``total``."""
    rows, channels = x.shape
    part = np.zeros(channels, x.dtype)
    for first in range(0, rows, _RUN):
        part[:] = 0.0
        for row in range(first, min(first + _RUN, rows)):
            values = x[row]
            for c in range(channels):
                centred = values[c] - mean[c]
                part[c] += centred * centred
        for c in range(channels):
            total[c] += part[c]


@compiled
def normalise(
    x: HostArray, mean: HostArray, scale: HostArray, bias: HostArray, added: HostArray, relu: bool, y: HostArray
) -> None:
    """``added`` has no rows if nothing is added."""
    rows, channels = x.shape
    more = added.shape[0] > 0
    zero = x.dtype.type(0.0)
    for row in range(rows):
        values, target = x[row], y[row]
        if more:
            other = added[row]
            for c in range(channels):
                target[c] = (values[c] - mean[c]) * scale[c] + bias[c] + other[c]
        else:
            for c in range(channels):
                target[c] = (values[c] - mean[c]) * scale[c] + bias[c]
        if relu:
            for c in range(channels):
                target[c] = zero if target[c] < zero else target[c]


@compiled
def gradient_sums(
    x: HostArray,
    mean: HostArray,
    gradient: HostArray,
    more: HostArray,
    mask: HostArray,
    incoming: HostArray,
    total: Totals,
    product: Totals,
) -> None:
    """``more`` and ``mask`` have no rows if there is one gradient, or no mask; ``incoming`` is what they come to."""
    rows, channels = x.shape
    two, masked = more.shape[0] > 0, mask.shape[0] > 0
    zero = x.dtype.type(0.0)
    part = np.zeros(channels, x.dtype)
    other_part = np.zeros(channels, x.dtype)
    for first in range(0, rows, _RUN):
        part[:] = 0.0
        other_part[:] = 0.0
        for row in range(first, min(first + _RUN, rows)):
            values, mine, target = x[row], gradient[row], incoming[row]
            if two and masked:
                other, chosen = more[row], mask[row]
                for c in range(channels):
                    target[c] = mine[c] + other[c] if chosen[c] > zero else zero
            elif masked:
                chosen = mask[row]
                for c in range(channels):
                    target[c] = mine[c] if chosen[c] > zero else zero
            elif two:
                other = more[row]
                for c in range(channels):
                    target[c] = mine[c] + other[c]
            for c in range(channels):
                part[c] += target[c]
                other_part[c] += target[c] * (values[c] - mean[c])
        for c in range(channels):
            total[c] += part[c]
            product[c] += other_part[c]


@compiled
def gradient(
    x: HostArray,
    mean: HostArray,
    incoming: HostArray,
    slope: HostArray,
    share: HostArray,
    scale: HostArray,
    dx: HostArray,
    total: Totals,
) -> None:
    """The gradient of the images, and its sums, added to ``total``."""
    rows, channels = x.shape
    part = np.zeros(channels, x.dtype)
    for first in range(0, rows, _RUN):
        part[:] = 0.0
        for row in range(first, min(first + _RUN, rows)):
            values, mine, target = x[row], incoming[row], dx[row]
            for c in range(channels):
                value = (mine[c] - (values[c] - mean[c]) * slope[c] - share[c]) * scale[c]
                target[c] = value
                part[c] += value
        for c in range(channels):
            total[c] += part[c]
