"""Memory that is planned once: what nobody needs any more is used again within the same replay."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from moonxi.compiled.graph import Spec

_ALIGNMENT = 64

type Order = tuple[int, ...]
"""The axes of an array as they lie in memory, the one with the largest steps first."""


def order_of(array: NDArray[np.generic]) -> Order:
    """The order of an array's axes."""
    return tuple(sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis)))


def ordered(memory: NDArray[np.generic], shape: tuple[int, ...], order: Order | None) -> NDArray[np.generic]:
    """A flat array in this shape, its axes in this order; row-major if there is none."""
    if order is None:
        return memory.reshape(shape)
    inverse = [order.index(axis) for axis in range(len(shape))]
    return memory.reshape([shape[axis] for axis in order]).transpose(inverse)


def joined(arrays: Sequence[NDArray[np.generic]]) -> list[NDArray[np.generic]]:
    """The elements of all arrays, of one type, in any order: those side by side in memory as one flat array."""
    whole: list[NDArray[np.generic]] = []
    owner, reached = None, 0
    for array in sorted(arrays, key=lambda one: byte_bounds(one)[0]):
        start, end = byte_bounds(array)
        flat = array.ravel("K")
        if end - start != array.nbytes or not np.may_share_memory(flat, array):
            return list(arrays)  # it has gaps, or elements twice
        if owner is array.base is not None and start == reached:
            whole[-1] = as_strided(whole[-1], (whole[-1].size + array.size,), flat.strides)
        else:
            whole.append(flat)
        owner, reached = array.base, end
    return whole


class Memory:
    """Arrays for intermediate results; with ``reuse`` one piece of memory serves several, one after the other."""

    def __init__(self, *, reuse: bool) -> None:
        self.reuse = reuse
        self._free: list[NDArray[np.uint8]] = []
        self.bytes = 0

    def take(self, spec: Spec, order: Order | None = None) -> "Piece":
        """Memory for a value. The smallest free piece that is large enough, and not twice as large, or a new one."""
        needed = max(_ALIGNMENT, -(-spec.bytes // _ALIGNMENT) * _ALIGNMENT)
        fitting = [piece for piece in self._free if needed <= piece.nbytes <= 2 * needed]
        if fitting:
            found = min(fitting, key=lambda piece: piece.nbytes)
            self._free = [piece for piece in self._free if piece is not found]
        else:
            whole = np.empty(needed + _ALIGNMENT, np.uint8)
            start = -whole.ctypes.data % _ALIGNMENT
            found = whole[start : start + needed]
            self.bytes += needed
        return Piece(found, spec, order)

    def give_back(self, piece: "Piece") -> None:
        """Let others have the memory."""
        if self.reuse:
            self._free.append(piece.memory)


class Piece:
    """A piece of memory as the array of a value."""

    __slots__ = ("array", "memory", "order", "spec")

    def __init__(self, memory: NDArray[np.uint8], spec: Spec, order: Order | None = None) -> None:
        assert spec.dtype is not None, "keys need no memory"
        self.memory = memory
        self.spec = spec
        dtype: np.dtype[np.generic] = np.dtype(spec.dtype.type)
        self.order = order
        self.array = ordered(memory[: spec.bytes].view(dtype), spec.shape, order)
