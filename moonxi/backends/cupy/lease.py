"""`Given`: memory that a recording gives out until it writes there again, and how it gets the memory back.

Whoever still holds an array then gets a copy of it, without noticing: arrays are moved to memory of their own.
"""

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, NamedTuple, override
from weakref import ref

from moonxi.backends.cupy.layouts import ordered, row_major
from moonxi.backends.cupy.memory import DeviceArray, Lender, Space

if TYPE_CHECKING:
    from cupy.cuda import MemoryPointer

_FEW, _KERNEL = 4, 11
"""Channels of images, at most, that are read in any order or moved within the graph; and rows of a weight, at most,
which is not taken for such images."""


class Slot:
    """Memory for one array of a recording, which comes from ``outside`` or from the run before."""

    __slots__ = ("array", "bytes", "memory", "space")

    def __init__(self, space: Space, like: DeviceArray, *, outside: bool = False) -> None:
        shape = like.shape
        strides = like.strides if like.dense else row_major(shape)
        as_it_lies = outside and like.dense and len(shape) == 4 and shape[1] <= _FEW and shape[2] > _KERNEL
        if len(shape) == 4 and not as_it_lies:
            # As convolutions take images and weights, which are then never turned around.
            strides = ordered(shape, (0, 2, 3, 1))
        self.space, self.bytes = space, like.count * space.itemsize
        self.memory = space.device.allocate(self.bytes)
        self.array = DeviceArray(self.memory, self.memory.ptr, shape, strides, space.itemsize, like.count, True)

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

    __slots__ = ("_moved", "_own", "_slots", "_views", "has_moved")

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots  # and with them the memory
        self.has_moved = False
        """Whether an array has memory of its own by now."""
        self._moved: dict[int, MemoryPointer] = {}
        """Copies of slots to which arrays are being moved."""
        self._own: list[ref[DeviceArray]] = []
        self._views: list[ref[DeviceArray]] = []

    def arrays(self) -> list[DeviceArray]:
        """One array for each slot."""
        made = list(map(self._array, self._slots))
        self._own = list(map(ref, made))
        return made

    def _array(self, slot: Slot) -> DeviceArray:
        x = slot.array
        return DeviceArray(self, x.pointer, x.shape, x.strides, x.itemsize, x.count, True)

    def another(self, place: int, array: DeviceArray) -> DeviceArray:
        """Another array for a slot, where somebody holds the one that was given out, of which there are no views."""
        self._move([array])
        self.has_moved = False
        made = self._array(self._slots[place])
        self._own[place] = ref(made)
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
        for array in held:
            found = [
                (place, slot)
                for place, slot in enumerate(self._slots)
                if slot.array.pointer <= array.pointer < _end(slot)
            ]
            if not found:  # it was moved before
                continue
            place, slot = found[0]
            if place not in self._moved:
                memory = slot.space.device.allocate(slot.bytes)
                slot.space.device.duplicate(slot.array.pointer, memory.ptr, slot.bytes)
                self._moved[place] = memory
            array.owner = self._moved[place]  # the pointer last: it tells what is done, if an interrupt comes here
            array.pointer += self._moved[place].ptr - slot.array.pointer
        self._moved.clear()


class Given:
    """What a graph writes and gives out, again and again: the same tensors as long as nobody else holds one."""

    __slots__ = ("_all", "_alone", "_arrays", "_images", "_lease", "_made", "_slots", "tensors")

    def __init__(self, slots: Sequence[Slot], made: Sequence[Callable[[DeviceArray], object]]) -> None:
        self._slots, self._made = slots, made
        self._lease: Lease | None = None
        self._arrays: list[DeviceArray] = []
        self.tensors: list[object] = []
        """What was given out last, one for each slot; of some nobody may have any more."""
        self._all: list[object] = []
        """The lease, the tensors and the arrays; none while they are exchanged, which an interrupt may leave so."""
        self._images = [place for place, slot in enumerate(slots) if len(slot.array.shape) == 4]
        """The places of arrays of which operations keep something: see `DeviceArray.last` and `DeviceArray.kept`."""
        self._alone = 0
        """References to all of these where nobody else holds one, or a view, which the lease owns as it does arrays."""

    @property
    def stays(self) -> bool:
        """Whether all of them lie in the slots."""
        return self._lease is not None and bool(self._all) and not self._lease.has_moved

    def take_back(self) -> None:
        """The graph is going to write there: whoever holds an array from now on has it in other memory."""
        if self._lease is None:
            return
        others, has_views = [], True
        if self._all and not self._lease.has_moved:
            if sum(map(getrefcount, self._all)) <= self._alone:
                return
            of_lease, *others = map(getrefcount, self._all)
            has_views = of_lease > _ALONE.lease + len(self._slots)
        count = len(self._slots)
        self._all = []
        if has_views:
            self._arrays, self.tensors = [], []  # so that what nobody else holds is gone
            self._lease.end()
            self._lease = None
            return
        for place, (tensor, array) in enumerate(zip(others[:count], others[count:], strict=True)):
            if tensor > _ALONE.tensor or array > _ALONE.array:
                self._arrays[place] = self._lease.another(place, self._arrays[place])
                self.tensors[place] = self._made[place](self._arrays[place])
        self._gathered(self._lease)

    def _gathered(self, lease: Lease) -> None:
        self._all = [lease, *self.tensors, *self._arrays]

    def again(self) -> list[object]:
        """The tensors, with what was written."""
        if self._lease is None:
            self._lease = Lease(self._slots)
            self._arrays = self._lease.arrays()
            self.tensors = [made(array) for made, array in zip(self._made, self._arrays, strict=True)]
            self._gathered(self._lease)
            self._alone = _ALONE.lease + len(self._slots) * (1 + _ALONE.tensor + _ALONE.array)
        else:
            self._lease.again()
            for place in self._images:
                self._arrays[place].last = self._arrays[place].kept = None
        return self.tensors


class _Counts(NamedTuple):
    lease: int
    tensor: int
    array: int


def _alone() -> _Counts:
    """What is counted of a lease, a tensor and an array of which nobody else knows, but for what arrays count of it.

    It differs between versions of Python."""
    given = Given((), ())
    given._lease = Lease(())
    given._arrays = [DeviceArray(given._lease, 0, (), (), 1, 1, True)]
    given.tensors = [[given._arrays[0]]]
    given._gathered(given._lease)
    lease, tensor, array = map(getrefcount, given._all)
    return _Counts(lease - 1, tensor, array)


_ALONE = _alone()


def _end(slot: Slot) -> int:
    """The address after the last element; an empty array has one place of its own."""
    return slot.array.pointer + max(1, slot.bytes)
