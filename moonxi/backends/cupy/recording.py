"""`CudaRecording`: a program captured as CUDA graphs, each launched by one call.

What comes out and goes in again at the next call, such as the parameters of a model, is not copied: there are two sets
of memory for it, and two graphs, each of which reads one set and writes the other. Everything else is copied in before,
and out after. Memory within a graph comes from a pool of its own.
"""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.cupy import cublas, tuning
from moonxi.backends.cupy.branches import Branches
from moonxi.backends.cupy.lease import Lease, Slot
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.random import StoredKey
from moonxi.backends.cupy.tensor import CudaTensor
from moonxi.dtypes import Floating
from moonxi.key import Key
from moonxi.recording import Program

if TYPE_CHECKING:
    from cupy.cuda import Graph, MemoryPointer, Stream

type Tensor = CudaTensor[Floating]

_DATA, _POINTER, _STRIDES = attrgetter("data"), attrgetter("pointer"), attrgetter("strides")
"""What is asked of hundreds of tensors at each call."""


class CudaRecording:
    """A program for inputs of given shapes, written down at the second call of its step."""

    def __init__(
        self, space: Space, program: Program, outputs: Sequence[object], *, branches: int, tuned: bool
    ) -> None:
        self._device, self._program, self._tuned, self._count = space.device, program, tuned, branches
        # Held until the second call, so that no other array can be taken for one of these.
        self._first: list[object] = [one.data if isinstance(one, CudaTensor) else None for one in outputs]
        self._graphs: list[Graph] = []
        self._branches: Branches | None = None
        self._sizes = [one.data.count * one.space.itemsize if isinstance(one, CudaTensor) else 0 for one in outputs]
        self._wanted: list[tuple[int, Slot | None]] = []
        """For the next results that come out, in order: the bytes, and where they are handed on from."""
        self._last_stream: Stream | None = None
        self._is_refused = False

    @property
    def bytes(self) -> int:
        """The memory of the pools."""
        return 0 if self._branches is None else self._branches.bytes

    # -- running -------------------------------------------------------------------------------------------------

    def run(self, inputs: Sequence[object], /) -> list[object] | None:
        """The outputs; None if they have to be computed operation by operation.

        That is so for a program that cannot be captured, which is said in a warning, and for one call where another
        library has an address in memory that would be written to."""
        if self._device.several:
            self._device.enter()
        if self._is_refused:
            return None
        if not self._graphs:
            try:
                self._record(inputs)
            except Exception as error:
                self._graphs, self._is_refused, self._branches = [], True, None
                warnings.warn(
                    f"compile: the step cannot be captured as a CUDA graph, and runs operation by operation: {error}",
                    stacklevel=2,
                )
                return None
        stream = self._device.stream()
        if self._last_stream is not None and self._last_stream.ptr != stream.ptr:
            self._last_stream.synchronize()
        place = self._take(inputs)
        if place is None:
            return None
        self._graphs[place].launch()
        self._last_stream = stream
        if self._reads_labels:
            self._device.labels_were_read = True
        return self._given(place)

    def _take(self, inputs: Sequence[object]) -> int | None:
        """Bring the inputs to where the graphs read them. The number of the graph, or None if memory is not free."""
        handed: list[DeviceArray] = list(map(_DATA, self._picked(inputs)))
        found = list(map(_POINTER, handed)), list(map(_STRIDES, handed))
        place = self._where.index(found) if found in self._where else None
        if place is None:
            if not (self._is_free(0) and self._is_free(1)):
                return None
            place = 0
            for slot, x in zip(self._sets[0], handed, strict=True):
                slot.fill(x)
        elif not self._is_free(1 - place):
            return None
        self._bring(inputs)
        return place

    def _bring(self, inputs: Sequence[object]) -> None:
        """Copy in what is not handed on, and the words of the keys."""
        for number, slot in self._copied.items():
            slot.fill(_tensor(inputs[number]).data)
        if self._keys:
            self._device.write(_words(inputs, self._keys), self._words.ptr)

    def _is_free(self, number: int) -> bool:
        """Whether nobody holds arrays of a set any more, now that they have been moved away."""
        found = self._leases[number]
        lease = None if found is None else found()
        if lease is not None and not lease.end():
            return False
        self._leases[number] = None
        return True

    def _given(self, place: int) -> list[object]:
        """The outputs of the graph that was launched last."""
        handed: list[DeviceArray] = []
        if self._handed:
            lease = Lease(self._sets[1 - place])
            handed = lease.arrays()
            self._leases[1 - place] = ref(lease)
        made: list[object] = []
        for (kind, space, number), kept in zip(self._outputs, self._kept[place], strict=True):
            if kept is None:
                made.append(kind(handed[number], space))
                continue
            out = space.like(kept) if kept.dense else space.empty(kept.shape)
            if kept.dense:
                self._device.duplicate(kept.pointer, out.pointer, kept.count * kept.itemsize)
            else:
                space.copy(kept, out)
            made.append(kind(out, space))
        return made

    # -- recording -----------------------------------------------------------------------------------------------

    def _record(self, inputs: Sequence[object]) -> None:
        from cupy.cuda import Event, Stream, using_allocator

        outputs = {id(array): place for place, array in enumerate(self._first) if array is not None}
        by_output: dict[int, int] = {}
        for number, one in enumerate(inputs):
            if isinstance(one, CudaTensor) and (place := outputs.get(id(one.data))) is not None:
                by_output.setdefault(place, number)
        self._handed = [(number, place) for place, number in by_output.items()]
        self._picked = _picking([number for number, _ in self._handed])
        self._place_in_set = {place: n for n, (_, place) in enumerate(self._handed)}
        self._keys = [number for number, one in enumerate(inputs) if isinstance(one, Key)]
        self._first = []
        before, stream = Event(disable_timing=True), Stream(non_blocking=True)
        before.record(self._device.stream())
        stream.wait_event(before)
        self._branches = branches = Branches(stream, self._count)
        _ = self._device.fault  # its memory is not of the pool
        self._device.labels_were_read, labels_were_read = False, self._device.labels_were_read
        with using_allocator(self._allocate), stream:
            handed = [_tensor(inputs[number]) for number, _ in self._handed]
            self._sets = [[Slot(one.space, one.data) for one in handed] for _ in range(2)]
            handed_numbers = {number for number, _ in self._handed}
            self._copied = {
                number: Slot(one.space, one.data)
                for number, one in enumerate(inputs)
                if isinstance(one, CudaTensor) and number not in handed_numbers
            }
            self._words = branches.allocate(16 * max(1, len(self._keys)))
            arrays = [[slot.array for slot in slots] for slots in self._sets]
            self._where = [(list(map(_POINTER, one)), list(map(_STRIDES, one))) for one in arrays]
            self._leases: list[ref[Lease] | None] = [None, None]
            self._fill(inputs)
            with cublas.in_recording(branches.calls), tuning.wanted(self._tuned):
                self._work(inputs, 0)  # compiles kernels, and gives the pool what it needs
                stream.synchronize()
                self._kept: list[list[DeviceArray | None]] = []
                for place in range(2 if self._handed else 1):
                    self._kept.append(self._captured(inputs, place, stream))
        stream.synchronize()
        self._reads_labels = self._device.labels_were_read
        self._device.labels_were_read |= labels_were_read

    def _captured(self, inputs: Sequence[object], place: int, stream: "Stream") -> list[DeviceArray | None]:
        stream.begin_capture()
        try:
            kept = self._work(inputs, place)
        except BaseException:
            with suppress(Exception):  # the first error says more
                stream.end_capture()
            raise
        self._graphs.append(stream.end_capture())
        return kept

    def _fill(self, inputs: Sequence[object]) -> None:
        """Elements for the first run, which may not be any: there are labels among them."""
        for slots in self._sets:
            for (number, _), slot in zip(self._handed, slots, strict=True):
                slot.fill(_tensor(inputs[number]).data)
        self._bring(inputs)

    def _work(self, inputs: Sequence[object], place: int) -> list[DeviceArray | None]:
        """Run the program from one set to the other. What is not handed on stays where it is, and is given."""
        assert self._branches is not None
        target = self._sets[1 - place]
        notes = _Notes(self._branches, partial(self._mark, target))
        results = [_tensor(one) for one in self._program(self._stand_ins(inputs, place), notes)]
        self._outputs = [(type(one), one.space, self._place_in_set.get(n, -1)) for n, one in enumerate(results)]
        kept: list[DeviceArray | None] = []
        for output, (one, (_, _, number)) in enumerate(zip(results, self._outputs, strict=True)):
            self._mark(target, (output,))
            _ = one.data.pointer  # a product that is pending is computed now
            self._mark(target, ())
            kept.append(None if number >= 0 else self._apart(one, target))
        self._hand_on(
            [
                (one.data, target[number])
                for one, (_, _, number) in zip(results, self._outputs, strict=True)
                if number >= 0
            ]
        )
        return kept

    @staticmethod
    def _apart(one: Tensor, target: list[Slot]) -> DeviceArray:
        """What is not handed on, which must not lie where something else is going to be."""
        memories = {id(slot.memory) for slot in target}
        if id(one.data.owner) not in memories:
            return one.data
        away = one.space.empty(one.data.shape)
        one.space.copy(one.data, away)
        return away

    @staticmethod
    def _hand_on(results: Sequence[tuple[DeviceArray, Slot]]) -> None:
        """Copy results that are not in their slots there: first away from the slots of others."""
        memories = {id(slot.memory) for _, slot in results}
        away = []
        for data, slot in results:
            if id(data.owner) in memories and data.owner is not slot.memory:
                data = slot.space.laid(data, slot.array.strides) if not slot.lies_alike(data) else _copied(slot, data)
            away.append(data)
        for data, (_, slot) in zip(away, results, strict=True):
            slot.fill(data)

    def _stand_ins(self, inputs: Sequence[object], place: int) -> list[object]:
        """What the program gets: tensors in memory of the recording, new ones, beside which nothing is kept yet."""
        slots = dict(self._copied)
        for (number, _), slot in zip(self._handed, self._sets[place], strict=True):
            slots[number] = slot
        made: list[object] = []
        for number, one in enumerate(inputs):
            if isinstance(one, Key):
                made.append(StoredKey(one.low, one.high, self._words.ptr + 16 * self._keys.index(number)))
            else:
                tensor = _tensor(one)
                made.append(type(tensor)(slots[number].fresh(), tensor.space))
        return made

    # -- memory --------------------------------------------------------------------------------------------------

    def _mark(self, target: list[Slot], places: Sequence[int]) -> None:
        """Have the next results put where they are going to be handed on from."""
        numbers = [(place, self._place_in_set.get(place)) for place in places]
        self._wanted = [(self._sizes[place], None if number is None else target[number]) for place, number in numbers]

    def _allocate(self, size: int) -> "MemoryPointer":
        """Memory of the pools; for a result that is to be handed on, that of its slot."""
        assert self._branches is not None
        for place, (wanted, slot) in enumerate(self._wanted):
            if wanted == size:
                del self._wanted[place]
                return self._branches.allocate(size) if slot is None else slot.memory
        return self._branches.allocate(size)


@dataclass(frozen=True, slots=True)
class _Notes:
    """What the program says of its operations."""

    branches: Branches
    mark: Callable[[Sequence[int]], None]

    def start(self, constants: Sequence[object]) -> None:
        """Products that are pending are computed before anything is, in memory that is nobody's else."""
        for one in constants:
            if isinstance(one, CudaTensor):
                _ = one.data.pointer
        self.branches.start()

    @property
    def work(self) -> Callable[[int, Sequence[object], Callable[[Sequence[object]], list[object]]], list[object]]:
        """On a branch."""
        return self.branches.work

    def join(self) -> None:
        """The first branch waits for all."""
        self.branches.join()


def _tensor(one: object) -> Tensor:
    """An input or output that is no key."""
    assert isinstance(one, CudaTensor)
    return one


def _picking(numbers: Sequence[int]) -> Callable[[Sequence[object]], Sequence[object]]:
    """What takes these out of a sequence."""
    return itemgetter(*numbers) if len(numbers) > 1 else lambda values: [values[number] for number in numbers]


def _copied(slot: Slot, x: DeviceArray) -> DeviceArray:
    """A copy of an array that lies as that of a slot does."""
    made = slot.space.like(x)
    slot.space.device.duplicate(x.pointer, made.pointer, slot.bytes)
    return made


def _words(inputs: Sequence[object], places: list[int]) -> NDArray[np.uint64]:
    """The keys among the inputs, two words each."""
    keys = [key for place in places if isinstance(key := inputs[place], Key)]
    return np.array([(key.low, key.high) for key in keys], np.uint64)
