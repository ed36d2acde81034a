"""Random numbers of a key, bit for bit as every other backend makes them.

The words are those of Philox 4x64-10 in counter mode: block ``i``, counted from 1, is ``philox((i, 0, 0, 0), key)``.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from moonxi.key import Key
from moonxi.traits import Shape


def words(count: int, key: Key) -> NDArray[np.uint64]:
    """The first ``count`` 64-bit words of a key."""
    return np.random.Philox(key=np.array([key.low, key.high], np.uint64)).random_raw(count)


def uniform(shape: Shape, key: Key, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
    """Uniform in [0, 1): float32 from the upper 24 bits of each half word, low first; float64 from 53 of a word."""
    count = prod(shape)
    if dtype == np.float32:
        halves = words((count + 1) // 2, key).astype("<u8", copy=False).view("<u4")[:count]
        return ((halves >> 8) * np.float32(2.0**-24)).astype(np.float32).reshape(shape)
    return ((words(count, key) >> np.uint64(11)) * 2.0**-53).reshape(shape)


def normal(shape: Shape, key: Key, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
    """Standard normal by Box and Muller: words 2i and 2i+1 give elements 2i (cosine) and 2i+1 (sine)."""
    count = prod(shape)
    pairs = ((words(count + count % 2, key) >> np.uint64(11)) * 2.0**-53).reshape(-1, 2)
    radius = np.sqrt(-2.0 * np.log1p(-pairs[:, 0]))
    angle = 2.0 * np.pi * pairs[:, 1]
    both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return both.reshape(-1)[:count].astype(dtype).reshape(shape)
