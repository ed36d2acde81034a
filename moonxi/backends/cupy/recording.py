"""`CudaRecording`: a program captured as CUDA graphs, each launched by one call.

What comes out and goes in again at the next call, such as the parameters of a model, is not copied: there are two sets
of memory for it, and two graphs, each of which reads one set and writes the other. Everything else is copied in before.
Results are given out where they are: see `moonxi.backends.cupy.lease`. Memory within comes from pools of its own.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, is_, itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from moonxi.backends.cupy import cublas, tuning
from moonxi.backends.cupy.branches import Branches
from moonxi.backends.cupy.bringing import Bringing, words_of_all
from moonxi.backends.cupy.capturing import captured
from moonxi.backends.cupy.lease import Given, Rows, Slot, hand_on
from moonxi.backends.cupy.memory import PIECES, DeviceArray, Space
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
_RUNS: Final = 64
_NODES: Final = 4000
_BYTES: Final = 64 << 20
"""Of a graph of several runs at most: the runs, their operations, and the bytes that are brought for them."""


class CudaRecording:
    """A program for inputs of given shapes, written down at the second call of its step."""

    def __init__(
        self, space: Space, program: Program, outputs: Sequence[object], *, branches: int, tuned: bool
    ) -> None:
        self._device, self._program, self._tuned, self._count = space.device, program, tuned, branches
        # Held until the second call, so that no other array can be taken for one of these.
        self._first = [_tensor(one) for one in outputs]
        self._graphs: list[Graph] = []
        self._branches: Branches | None = None
        self._wanted: list[Slot] = []
        """For the next results that come out, in order."""
        self._last_stream: Stream | None = None
        self._is_refused = False
        self._space = space
        self._given: list[Given] = []
        """For each graph."""
        self._latest = 0
        """Which of the graphs was launched last."""
        self._many: _Many | None = None
        self._operations = 0
        self._was_there = False
        """Whether CuPy's pool may keep what the calls until the recording was made have given out."""

    @property
    def bytes(self) -> int:
        """The memory of the pools."""
        return 0 if self._branches is None else self._branches.bytes

    # -- running -------------------------------------------------------------------------------------------------

    def run(self, inputs: Sequence[object], /) -> Sequence[object] | None:
        """The outputs; None if the program cannot be captured, which is said in a warning once."""
        if self._device.several:
            self._device.enter()
        if self._is_refused:
            return None
        if not self._graphs:
            first = self._first
            try:
                self._record(inputs)
            except BaseException as error:
                self._graphs, self._given, self._branches = [], [], None
                if not isinstance(error, Exception):  # an interrupt: the next call records
                    self._first = first
                    raise
                self._is_refused = True
                warnings.warn(
                    f"compile: the step cannot be captured as a CUDA graph, and runs operation by operation: {error}",
                    stacklevel=2,
                )
                return None
        elif self._was_there:
            self._give_back()
        stream = self._on_stream()
        place = self._take(inputs)
        self._given[place].take_back()
        self._bringing.bring(inputs)
        self._graphs[place].launch()
        self._last_stream = stream
        return self._results(place)

    @property
    def handed(self) -> Mapping[int, int] | None:
        """For inputs that came out before, by which output they do; None before the recording is made."""
        return dict(self._handed) if self._graphs else None

    def run_on(
        self,
        inputs: Sequence[object],
        rows: Mapping[int, object],
        counts: tuple[int, int],
        keys: Sequence[Sequence[object]],
        /,
    ) -> Sequence[object]:
        """The outputs of the last of so many runs: those that are in one graph at one launch, the others singly."""
        count, later = counts
        if self._device.several:
            self._device.enter()
        if self._was_there:
            self._give_back()
        stream = self._on_stream()
        place = self._take(inputs)
        for given in self._given:
            given.take_back()
        if place:
            for slot, other in zip(self._sets[0], self._sets[1], strict=True):
                slot.fill(other.array)
        if self._many is None or self._many.rows.keys() != rows.keys():
            self._many = self._recorded_many(inputs, rows, later)
        many, place = self._many, 1
        whole = {number: one.space.laid(_tensor(rows[number]).data, one.strides) for number, one in many.rows.items()}
        self._bringing.bring(inputs, but=[*rows])
        done = count - count % many.runs
        for first in range(0, done, many.runs):
            pieces = [many.rows[number].piece(x, first) for number, x in whole.items()]
            for start in range(0, len(pieces), PIECES):
                self._space.gather(pieces[start : start + PIECES])
            if self._keys:
                words = words_of_all(keys[first : first + many.runs], self._keys)
                self._device.write(np.asarray(words), many.words.ptr)
            many.graph.launch()
        for run in range(done, count):
            place = (run - done) % 2
            parts = [*(keys[run] if self._keys else inputs)]
            for number, x in whole.items():
                one = many.rows[number]
                parts[number] = type(_tensor(inputs[number]))(one.part(x, run), one.space)
            self._bringing.bring(parts)
            self._graphs[place].launch()
        self._last_stream = stream
        return self._results(place)

    def _give_back(self) -> None:
        """What nobody needs any more: a replay has memory of its own."""
        self._was_there = False
        self._device.release_unused()

    def _on_stream(self) -> "Stream":
        """The current stream, on which the work on any other is done."""
        stream = self._device.stream()
        if self._last_stream is not None and self._last_stream.ptr != stream.ptr:
            self._last_stream.synchronize()
        return stream

    def _results(self, place: int) -> Sequence[object]:
        if self._reads_labels:
            self._device.labels_were_read = True
        self._latest = place
        return self._given[place].again()

    def _take(self, inputs: Sequence[object]) -> int:
        """Have what is handed on where a graph reads it. The number of the graph."""
        given, picked = self._given[self._latest], self._picked(inputs)
        if given.stays and all(map(is_, picked, self._picked_again(given.tensors))):
            return len(self._given) - 1 - self._latest
        handed: list[DeviceArray] = list(map(_DATA, picked))
        found = list(map(_POINTER, handed)), list(map(_STRIDES, handed))
        if found in self._where:
            return self._where.index(found)
        for given in self._given:
            given.take_back()
        for slot, x in zip(self._sets[0], handed, strict=True):
            slot.fill(x)
        return 0

    # -- recording -----------------------------------------------------------------------------------------------

    def _record(self, inputs: Sequence[object]) -> None:
        from cupy.cuda import Event, Stream, using_allocator

        outputs = {id(one.data): place for place, one in enumerate(self._first)}
        by_output: dict[int, int] = {}
        for number, one in enumerate(inputs):
            if isinstance(one, CudaTensor) and (place := outputs.get(id(one.data))) is not None:
                by_output.setdefault(place, number)
        self._handed = [(number, place) for place, number in by_output.items()]
        self._picked = _picking([number for number, _ in self._handed])
        self._picked_again = _picking([place for _, place in self._handed])
        self._keys = [number for number, one in enumerate(inputs) if isinstance(one, Key)]
        self._device.release_unused()  # what the call before this one has computed in
        before, stream = Event(disable_timing=True), Stream(non_blocking=True)
        before.record(self._device.stream())
        stream.wait_event(before)
        self._branches = branches = Branches(stream, self._count)
        _ = self._device.fault  # its memory is not of the pool
        self._device.labels_were_read, labels_were_read = False, self._device.labels_were_read
        with using_allocator(self._allocate), stream:
            handed = [_tensor(inputs[number]) for number, _ in self._handed]
            self._sets = [[Slot(one.space, one.data) for one in handed] for _ in range(2)]
            places = {output: n for n, (_, output) in enumerate(self._handed)}
            self._slots = [
                [
                    self._sets[1 - place][places[n]] if n in places else Slot(one.space, one.data)
                    for n, one in enumerate(self._first)
                ]
                for place in range(2 if handed else 1)
            ]
            self._first = []
            self._bringing = self._brought(inputs)
            arrays = [[slot.array for slot in slots] for slots in self._sets]
            self._where = [(list(map(_POINTER, one)), list(map(_STRIDES, one))) for one in arrays]
            self._fill(inputs)
            with cublas.recording.within(branches.calls), tuning.wanted(self._tuned):
                self._work(inputs, 0)  # compiles kernels, and gives the pool what it needs
                stream.synchronize()
                branches.gather()
                for place in range(len(self._slots)):
                    self._graphs.append(captured(stream, partial(self._work, inputs, place)))
                    kinds = [partial(_made, kind, space) for kind, space in self._kinds]
                    self._given.append(Given(self._slots[place], kinds))
        stream.synchronize()
        self._was_there = True
        self._reads_labels = self._device.labels_were_read
        self._device.labels_were_read |= labels_were_read

    def _brought(self, inputs: Sequence[object]) -> Bringing:
        """Memory for what is not handed on, and for the words of the keys."""
        assert self._branches is not None
        handed = {number for number, _ in self._handed}
        copied = [
            (number, Slot(one.space, one.data, outside=True))
            for number, one in enumerate(inputs)
            if isinstance(one, CudaTensor) and number not in handed
        ]
        return Bringing(self._space, copied, self._keys, self._branches.allocate(16 * max(1, len(self._keys))))

    def _recorded_many(self, inputs: Sequence[object], rows: Mapping[int, object], count: int) -> "_Many":
        """A graph of an even number of runs, which begins and ends with the first set: of so many that ``count`` runs
        are few launches of it and few single runs."""
        from cupy.cuda import using_allocator

        assert self._branches is not None
        size = sum(slot.bytes for number, slot in self._bringing.slots if number in rows)
        most = min(count, _RUNS, max(2, _NODES // max(1, self._operations)), max(2, _BYTES // max(1, size)))
        runs = min(range(2, most + 1, 2), key=lambda runs: count // runs + count % runs, default=2)
        stream = self._branches.stream
        stream.synchronize()
        self._device.stream().synchronize()
        with using_allocator(self._allocate), stream:
            made = {number: Rows(slot, runs) for number, slot in self._bringing.slots if number in rows}
            words = self._branches.allocate(16 * max(1, len(self._keys) * runs))

            def work() -> None:
                for run in range(runs):
                    fresh = {number: one.part(one.array, run) for number, one in made.items()}
                    self._work(inputs, run % 2, fresh, words.ptr + 16 * run * len(self._keys))

            with cublas.recording.within(self._branches.calls), tuning.wanted(self._tuned, tries=False):
                graph = captured(stream, work)
        return _Many(graph, runs, made, words)

    def _fill(self, inputs: Sequence[object]) -> None:
        """Elements for the first run, which may not be any: there are labels among them."""
        for slots in self._sets:
            for (number, _), slot in zip(self._handed, slots, strict=True):
                slot.fill(_tensor(inputs[number]).data)
        self._bringing.bring(inputs)

    def _work(
        self,
        inputs: Sequence[object],
        place: int,
        rows: Mapping[int, DeviceArray] = MappingProxyType({}),
        words: int | None = None,
    ) -> None:
        """Run the program from one set to the other; what is not handed on has slots beside them."""
        assert self._branches is not None
        target = self._slots[place]
        notes = _Notes(self._branches, partial(self._mark, target))
        self._operations = 0
        stand_ins = self._stand_ins(inputs, place, rows, self._bringing.words.ptr if words is None else words)
        results = [_tensor(one) for one in self._program(stand_ins, notes)]
        self._kinds = [(type(one), one.space) for one in results]
        for output, one in enumerate(results):
            self._mark(target, (output,))
            _ = one.data.pointer  # a product that is pending is computed now
            self._mark(target, ())
        hand_on([(one.data, slot) for one, slot in zip(results, target, strict=True)])

    def _stand_ins(
        self, inputs: Sequence[object], place: int, rows: Mapping[int, DeviceArray], words: int
    ) -> list[object]:
        """What the program gets: tensors in memory of the recording, new ones, beside which nothing is kept yet."""
        slots = dict(self._bringing.slots)
        for (number, _), slot in zip(self._handed, self._sets[place], strict=True):
            slots[number] = slot
        made: list[object] = []
        for number, one in enumerate(inputs):
            if isinstance(one, Key):
                made.append(StoredKey(one.low, one.high, words + 16 * self._keys.index(number)))
            else:
                tensor = _tensor(one)
                found = rows.get(number)
                made.append(type(tensor)(slots[number].fresh() if found is None else found, tensor.space))
        return made

    # -- memory --------------------------------------------------------------------------------------------------

    def _mark(self, target: list[Slot], places: Sequence[int]) -> None:
        """Have the next results put where they are going to be given out."""
        self._wanted = [target[place] for place in places]
        self._operations += len(places) == 0

    def _allocate(self, size: int) -> "MemoryPointer":
        """Memory of the pools; for a result that comes out, that of its slot."""
        assert self._branches is not None
        for place, slot in enumerate(self._wanted):
            if slot.bytes == size:
                del self._wanted[place]
                return slot.memory
        return self._branches.allocate(size)


class _Many(NamedTuple):
    """A graph of several runs, and where each of them reads what is brought."""

    graph: "Graph"
    runs: int
    rows: dict[int, Rows]
    words: "MemoryPointer"


@dataclass(frozen=True, slots=True)
class _Notes:
    """What the program says of its operations."""

    branches: Branches
    marked: Callable[[Sequence[int]], None]

    def mark(self, places: Sequence[int]) -> None:
        """See `moonxi.recording.Notes`."""
        self.marked(places)

    def start(self, constants: Sequence[object]) -> None:
        """Products that are pending are computed before anything is, in memory that is nobody's else."""
        for one in constants:
            if isinstance(one, CudaTensor):
                _ = one.data.pointer
        self.branches.start()

    def work(
        self, branch: int, operands: Sequence[object], do: Callable[[Sequence[object]], list[object]]
    ) -> list[object]:
        """On a branch."""
        return self.branches.work(branch, operands, do)

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


def _made(kind: type[Tensor], space: Space, array: DeviceArray) -> Tensor:
    return kind(array, space)
