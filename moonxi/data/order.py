"""What a key fixes about samples: the order in which they are visited, and random words for them."""

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import AxisError, DataError, OperandError
from moonxi.key import Key

type Indices = NDArray[np.intp]
"""Positions of samples in a data set."""


def refuse_no_array(owner: str, **arrays: object) -> None:
    """Raise `OperandError` for what is no ndarray, such as a list or a tensor."""
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise OperandError(
                f"{owner}: {name}: {type(array).__name__}: expected a NumPy array; a list becomes one with "
                "numpy.array(values), a tensor with x.to_host()"
            )


def check_positions(operation: str, samples: int, indices: Indices) -> None:
    """Raise `OperandError` unless the positions are an array of integers with one axis, `DataError` for none of them,
    and `AxisError` for one outside. A boolean for each sample would be taken for the positions 0 and 1."""
    given: object = indices
    if not isinstance(given, np.ndarray):
        raise OperandError(
            f"{operation}: {type(given).__name__}: expected an array of positions; convert with numpy.array(indices)"
        )
    if given.size == 0:
        raise DataError(f"{operation}: 0 of {samples} samples: a batch has at least one sample")
    if given.dtype.kind not in "iu" or given.ndim != 1:
        advice = "; of booleans write numpy.flatnonzero(chosen)" if given.dtype.kind == "b" else ""
        raise OperandError(
            f"{operation}: positions {given.shape} of {given.dtype}: expected integers along one axis{advice}"
        )
    outside = given[(given < -samples) | (given >= samples)]
    if outside.size:
        raise AxisError(f"{operation}: {samples} samples: position {outside[0]} lies outside")


def shuffled(count: int, key: Key, /) -> Indices:
    """The numbers 0 to ``count - 1`` in an order fixed by the key.

    They are sorted by the words of the Philox generator, whose stream NumPy guarantees, and not permuted by
    ``Generator.permutation``, which may change between releases (NEP 19): an order never depends on the version."""
    return np.argsort(philox_words(count, key), kind="stable")


def philox_words(count: int, key: Key, /) -> NDArray[np.uint64]:
    """The first 64-bit words of a key: block ``i`` of four, counted from 1, is ``philox((i, 0, 0, 0), key)``."""
    return np.random.Philox(key=key.low | key.high << 64).random_raw(count)
