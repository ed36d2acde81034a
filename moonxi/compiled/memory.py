"""Memory that is planned once: what nobody needs any more is used again within the same replay."""

import numpy as np
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
