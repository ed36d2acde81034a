"""The order in which samples are visited, fixed by a key."""

import numpy as np
from numpy.typing import NDArray

from moonxi.key import Key

type Indices = NDArray[np.intp]
"""Positions of samples in a data set."""


def shuffled(count: int, key: Key, /) -> Indices:
    """The numbers 0 to ``count - 1`` in an order fixed by the key.

    They are sorted by the words of the Philox generator, whose stream NumPy guarantees, and not permuted by
    ``Generator.permutation``, which may change between releases (NEP 19): an order never depends on the version."""
    words = np.random.Philox(key=key.low | key.high << 64).random_raw(count)
    return np.argsort(words, kind="stable")
