"""Weights and data that PyTorch's and moonxi's side make alike, from the name of each tensor alone."""

from math import prod, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray


def wave(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers with mean 0 and variance 1 that look random: samples of a sine, in an order of no simple period."""
    start = crc32(name.encode()) % 10007
    steps = np.arange(1, prod(shape) + 1) * 12.9898 + start * 0.5698402909980532
    return (np.sin(np.sin(steps) * 43.758) * sqrt(2.0)).reshape(shape)


def tensor(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A tensor by PyTorch's name and shape: scaled by its fan-in, and around 1 for scales and variances."""
    values = wave(name, shape)
    if len(shape) > 1:
        return values * sqrt(2.0 / prod(shape[1:]))
    if name.endswith("running_var") or (name.endswith("weight") and len(shape) == 1):
        return 1.0 + 0.3 * np.tanh(values)
    return 0.1 * values


def entries(name: str, count: int) -> list[int]:
    """32 places in a tensor of ``count`` elements, fixed by its name."""
    start = crc32(name.encode())
    return [(start + 7919 * number * number) % count for number in range(32)]
