"""What a key fixes about samples: the order in which they are visited, and random words for them."""

import numpy as np
from numpy.typing import NDArray

from moonxi.key import Key

type Indices = NDArray[np.intp]
"""Positions of samples in a data set."""


def shuffled(count: int, key: Key, /) -> Indices:
    """The numbers 0 to ``count - 1`` in an order fixed by the key.

    They are sorted by the words of the Philox generator, whose stream NumPy guarantees, and not permuted by
    ``Generator.permutation``, which may change between releases (NEP 19): an order never depends on the version."""
    return np.argsort(philox_words(count, key), kind="stable")


def philox_words(count: int, key: Key, /) -> NDArray[np.uint64]:
    """The first 64-bit words of a key: block ``i`` of four, counted from 1, is ``philox((i, 0, 0, 0), key)``."""
    return np.random.Philox(key=key.low | key.high << 64).random_raw(count)
