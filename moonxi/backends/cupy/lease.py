"""`Given`: memory that a recording gives out until it writes there again, and how it gets the memory back.

Whoever still holds an array then gets a copy of it, without noticing: arrays are moved to memory of their own.
"""

from collections.abc import Sequence
from sys import getrefcount
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


def hand_on(results: Sequence[tuple[DeviceArray, Slot]]) -> None:
    """Copy results that are not in their slots there: first away from the slots of others."""
    memories = {id(slot.memory) for _, slot in results}
    away = []
    for data, slot in results:
        if id(data.owner) in memories and data.owner is not slot.memory:
            data = slot.space.laid(data, slot.array.strides) if not slot.lies_alike(data) else _copied(slot, data)
        away.append(data)
    for data, (_, slot) in zip(away, results, strict=True):
        slot.fill(data)


def _copied(slot: Slot, x: DeviceArray) -> DeviceArray:
    """A copy of an array that lies as that of a slot does."""
    made = slot.space.like(x)
    slot.space.device.duplicate(x.pointer, made.pointer, slot.bytes)
    return made


class Rows:
    """Memory for an array of several runs of a recording, the first axis of which goes on from run to run."""

    __slots__ = ("_count", "_shape", "array", "bytes", "memory", "space", "strides")

    def __init__(self, slot: Slot, runs: int) -> None:
        self.space, self.bytes = slot.space, slot.bytes
        shape, self._count = slot.array.shape, slot.array.count
        self._shape = shape
        inner = slot.array.strides if slot.array.strides[0] == self._count // max(1, shape[0]) else row_major(shape)
        self.strides = (self._count // max(1, shape[0]), *inner[1:])
        """Of one run as of all."""
        self.memory = self.space.device.allocate(runs * self.bytes)
        whole = (runs * shape[0], *shape[1:])
        size = self.space.itemsize
        self.array = DeviceArray(self.memory, self.memory.ptr, whole, self.strides, size, runs * self._count, True)

    def piece(self, whole: DeviceArray, first: int) -> tuple[int, int, int]:
        """From where, to where and how much is copied for the runs from one on."""
        return whole.pointer + first * self.bytes, self.memory.ptr, self.array.count * self.array.itemsize

    def part(self, whole: DeviceArray, run: int) -> DeviceArray:
        """What one run takes of an array that lies so."""
        return whole.view(self._shape, self.strides, run * self._count)


class Lease(Lender):
    """The owner of all arrays that one call has given out."""

    __slots__ = ("_own", "_slots", "_views", "has_moved")

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots  # and with them the memory
        self.has_moved = False
        """Whether an array has memory of its own by now."""
        self._own: list[ref[DeviceArray]] = []
        self._views: list[ref[DeviceArray]] = []

    def arrays(self) -> list[DeviceArray]:
        """One array for each slot."""
        made = []
        for slot in self._slots:
            x = slot.array
            made.append(DeviceArray(self, x.pointer, x.shape, x.strides, x.itemsize, x.count, True))
        self._own = list(map(ref, made))
        return made

    def again(self) -> None:
        """Give out the same arrays again, now that nobody holds one or a view of one."""
        self._views.clear()

    @override
    def add(self, array: DeviceArray) -> None:
        """Take note of a view."""
        self._views.append(ref(array))

    @override
    def give_away(self, array: DeviceArray) -> None:
        """Move an array to memory of its own, as somebody is going to know the address."""
        self._move([array])

    def end(self) -> None:
        """Move what is still held to memory of its own."""
        self._move([array for one in (*self._own, *self._views) if (array := one()) is not None])
        self._own.clear()
        self._views.clear()

    def _move(self, held: Sequence[DeviceArray]) -> None:
        self.has_moved = True
        moved: dict[int, MemoryPointer] = {}
        for array in held:
            if array.owner is not self:  # it was moved before
                continue
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


class Given:
    """What a graph writes and gives out, again and again: the same arrays as long as nobody else holds one."""

    __slots__ = ("_arrays", "_lease", "_slots")

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots
        self._arrays: list[DeviceArray] = []
        self._lease: Lease | None = None

    def take_back(self) -> None:
        """The graph is going to write there: whoever holds an array from now on has it in other memory."""
        if self._lease is None:
            return
        if not self._lease.has_moved and _is_alone(self._arrays, self._lease, _ONCE, _OWNED):
            return
        self._arrays = []  # so that what nobody else holds is gone
        self._lease.end()
        self._lease = None

    def arrays(self) -> list[DeviceArray]:
        """What was written."""
        if self._lease is None:
            self._lease = Lease(self._slots)
            self._arrays = self._lease.arrays()
        else:
            self._lease.again()
            for array in self._arrays:
                array.last = None
        return self._arrays


def _is_alone(arrays: list[DeviceArray], lease: Lease, once: int, owned: int) -> bool:
    """Whether nobody else holds one of the arrays, or has a view, which the lease owns too."""
    for array in arrays:  # how this is written decides what is counted
        if getrefcount(array) > once:
            return False
    return getrefcount(lease) - len(arrays) <= owned


def _counted() -> tuple[int, int]:
    """What is counted there where nobody else does, which differs between versions of Python."""
    given = Given(())
    given._lease = lease = Lease(())
    del lease
    given._arrays = [DeviceArray(given._lease, 0, (), (), 1, 1, True)]
    return next(
        (once, owned)
        for once in range(1, 10)
        for owned in range(1, 10)
        if _is_alone(given._arrays, given._lease, once, owned)
    )


_ONCE, _OWNED = _counted()


def _end(slot: Slot) -> int:
    """The address after the last element; an empty array has one place of its own."""
    return slot.array.pointer + max(1, slot.bytes)
