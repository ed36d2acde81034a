"""Memory for results, which the caller owns: used again once nobody holds the tensor any more.

Nothing that a user can still see is ever written to. Whether anybody holds an array is what Python counts: views,
buffers and tensors all hold it.
"""

import sys
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi.compiled.graph import Spec
from moonxi.compiled.memory import Order, ordered

_MOST: Final = 3
"""Arrays that are kept for a result: one that is computed, one that is the step's argument, one to spare."""


_FRESH: Final = 64
"""Elements up to which new memory is had sooner than known memory is looked at."""


class Result:
    """The memory of one result of a step."""

    def __init__(self, spec: Spec, order: Order | None = None) -> None:
        assert spec.dtype is not None, "keys need no memory"
        self._shape = spec.shape
        self._order = order
        self._size = prod(spec.shape)
        self._dtype: np.dtype[np.generic] = np.dtype(spec.dtype.type)
        self._kept: list[NDArray[np.generic]] = []

    def take(self) -> NDArray[np.generic]:
        """An array of any content, in memory that nobody holds.

        It is a view: NumPy lets views of a view hold the array beneath, so that is the one whose holders count."""
        memory = _free(self._kept, _ALONE)
        if memory is None:
            memory = np.empty(self._size, self._dtype)
            self._kept.append(memory)
            if len(self._kept) > _MOST:
                del self._kept[0]
        return ordered(memory, self._shape, self._order)


def taker(spec: Spec, order: Order | None = None) -> Callable[[], NDArray[np.generic]]:
    """What gives an array of any content, in memory that nobody holds, for one result of a step."""
    if prod(spec.shape) <= _FRESH and (order is None or order == tuple(range(len(order)))):
        assert spec.dtype is not None, "keys need no memory"
        dtype: np.dtype[np.generic] = np.dtype(spec.dtype.type)
        return partial(np.empty, spec.shape, dtype)
    return Result(spec, order).take


def _free(arrays: list[NDArray[np.generic]], alone: int) -> NDArray[np.generic] | None:
    for array in arrays:  # how this is written decides what is counted
        if sys.getrefcount(array) <= alone:
            return array
    return None


_ALONE: Final = next(count for count in range(1, 10) if _free([np.empty(0)], count) is not None)
"""What is counted here for an array that only the list holds, which differs between versions of Python."""
