"""`Lease`: memory that a recording gives out until it writes there again, and how it gets the memory back.

Whoever still holds an array then gets a copy of it, without noticing: arrays are moved to memory of their own.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, override
from weakref import ref

from moonxi.backends.cupy.layouts import ordered, row_major
from moonxi.backends.cupy.memory import DeviceArray, Lender, Space

if TYPE_CHECKING:
    from cupy.cuda import MemoryPointer


class Slot:
    """Memory for one array of a recording."""

    __slots__ = ("array", "bytes", "memory", "space")

    def __init__(self, space: Space, like: DeviceArray) -> None:
        strides = like.strides if like.dense else row_major(like.shape)
        if len(like.shape) == 4:  # as convolutions take images and weights, which are then never turned around
            strides = ordered(like.shape, (0, 2, 3, 1))
        self.space, self.bytes = space, like.count * space.itemsize
        self.memory = space.device.allocate(self.bytes)
        self.array = DeviceArray(self.memory, self.memory.ptr, like.shape, strides, space.itemsize, like.count, True)

    def fresh(self) -> DeviceArray:
        """The array anew, without what was kept beside the last one."""
        return self.array.view(self.array.shape, self.array.strides)

    def lies_alike(self, x: DeviceArray) -> bool:
        """Whether the elements of an array lie in memory as those here."""
        return x.strides == self.array.strides and x.dense

    def fill(self, x: DeviceArray) -> None:
        """Copy an array of this shape, which may be the one here."""
        if self.lies_alike(x):
            if x.pointer != self.array.pointer:
                self.space.device.duplicate(x.pointer, self.array.pointer, self.bytes)
        elif x.owner is self.memory:
            self.fill(self.space.laid(x, self.array.strides))
        else:
            self.space.copy(x, self.array)


class Lease(Lender):
    """The owner of all arrays that one call has given out. It is gone when nobody holds any of them."""

    __slots__ = ("__weakref__", "_arrays", "_given_away", "_slots")

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots  # and with them the memory
        self._arrays: list[ref[DeviceArray]] = []
        self._given_away = False

    def arrays(self) -> list[DeviceArray]:
        """One array for each slot."""
        made = []
        for slot in self._slots:
            x = slot.array
            made.append(DeviceArray(self, x.pointer, x.shape, x.strides, x.itemsize, x.count, True))
        self._arrays = list(map(ref, made))
        return made

    @override
    def add(self, array: DeviceArray) -> None:
        """Take note of an array or a view."""
        self._arrays.append(ref(array))

    @override
    def give_away(self) -> None:
        """Take note that somebody has addresses in this memory: nothing can be moved from now on."""
        self._given_away = True

    def end(self) -> bool:
        """Move what is still held to memory of its own; False if it cannot be moved."""
        if self._given_away:
            return False
        held = [array for one in self._arrays if (array := one()) is not None]
        moved: dict[int, MemoryPointer] = {}
        for array in held:
            place, slot = next(
                (place, slot)
                for place, slot in enumerate(self._slots)
                if slot.array.pointer <= array.pointer < _end(slot)
            )
            if place not in moved:
                moved[place] = slot.space.device.allocate(slot.bytes)
                slot.space.device.duplicate(slot.array.pointer, moved[place].ptr, slot.bytes)
            array.pointer += moved[place].ptr - slot.array.pointer
            array.owner = moved[place]
        self._arrays.clear()
        return True


def _end(slot: Slot) -> int:
    """The address after the last element; an empty array has one place of its own."""
    return slot.array.pointer + max(1, slot.bytes)
