"""`Bringing`: what a recording copies to where its graph reads it before each launch, by one kernel if it can be."""

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final
from weakref import ref

import numpy as np

from moonxi.backends.cupy.lease import Slot
from moonxi.backends.cupy.memory import INLINE, PIECES, WORDS, DeviceArray, Lender, Space
from moonxi.key import Key

if TYPE_CHECKING:
    from cupy.cuda import MemoryPointer

_FIRST: Final = 3 + INLINE
"""The word with which the first piece begins."""

type _Reference = Callable[[], DeviceArray | None]


class Bringing:
    """The inputs that are no results of the run before, each with its slot, and keys, of which the device has words."""

    def __init__(
        self, space: Space, slots: Sequence[tuple[int, Slot]], keys: Sequence[int], words: "MemoryPointer"
    ) -> None:
        self.slots = slots
        self.words = words
        self._space, self._keys, self._launch = space, keys, space.moving.launch_blocks
        self._there: list[_Reference] = [_nothing] * len(slots)
        """What lies in each slot, where that stays what it is."""
        small = slots[:PIECES]
        self._inline = 2 * len(keys) <= INLINE
        self._blocks = min(sum(1 + (slot.bytes >> 14) for _, slot in small) + 1, space.device.most_blocks)
        self._pieces = array("Q", bytes(8 * WORDS))
        self._pieces[:3] = array("Q", (len(small), 2 * len(keys) * self._inline, words.ptr))
        for place, (_, slot) in enumerate(small):
            self._pieces[_FIRST + 3 * place + 1] = slot.array.pointer

    def bring(self, inputs: Sequence[object], *, but: Sequence[int] = ()) -> None:
        """Copy what does not lie there already; ``but`` are numbers of inputs that are not needed."""
        pieces, needed = self._pieces, bool(self._keys)
        came: list[tuple[int, _Reference]] = []
        for place, (number, slot) in enumerate(self.slots):
            x: DeviceArray = inputs[number].data  # type: ignore[attr-defined]  # a tensor
            at, bytes = _FIRST + 3 * place, 0
            if self._there[place]() is not x and number not in but:
                # What a recording has lent is the same array with other elements after its next run.
                self._there[place] = _nothing  # until it is there, whatever interrupts
                if not isinstance(x.owner, Lender):
                    came.append((place, ref(x)))
                if place < PIECES and slot.lies_alike(x):
                    pieces[at], bytes, needed = x.pointer, slot.bytes, True
                else:
                    slot.fill(x)
            if place < PIECES:
                pieces[at + 2] = bytes
        if self._keys:
            words = words_of_all([inputs], self._keys)
            if self._inline:
                pieces[3 : 3 + len(words)] = words
            else:
                self._space.device.write(np.asarray(words), self.words.ptr)
        if needed:
            self._launch("bring", self._blocks, (256, 1), pieces.tobytes())
        for place, there in came:
            self._there[place] = there


def words_of_all(calls: Sequence[Sequence[object]], keys: Sequence[int]) -> "array[int]":
    """Those of the keys in the inputs of several runs."""
    return array("Q", [word for inputs in calls for number in keys for word in _words_of(inputs[number])])


def _words_of(key: object) -> tuple[int, int]:
    assert isinstance(key, Key), "it was one when the recording was made"
    return key.low, key.high


def _nothing() -> None:
    """No array."""
