"""`Branches`: the streams on which a recording is written down, which of them waits for whom, and whose memory is free.

Each stream has a pool of its own, so that what it lets go serves nobody but itself, in its own order. Memory that
another stream works with as well is held until its own has waited for that work. Every wait is for one operation, by an
event right after it, and a stream knows what it has waited for: the end of that operation and all that this had waited
for before.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from moonxi.backends.cupy import cublas, plans
from moonxi.backends.cupy.memory import DeviceArray
from moonxi.backends.cupy.tensor import CudaTensor
from moonxi.dtypes import Floating

if TYPE_CHECKING:
    from cupy.cuda import Event, MemoryPointer, MemoryPool, Stream

_MOST = 256 << 20
"""Bytes that are held for other streams, from which on the oldest of it is waited for."""


class _Mark(NamedTuple):
    """The end of an operation."""

    event: "Event"
    seen: list[int]
    """For each branch the number of operations that are done then."""


class _Made(NamedTuple):
    """By which operation a piece of memory was written."""

    branch: int
    number: int


class _Held(NamedTuple):
    """Memory that an operation of another branch works with."""

    owner: object
    bytes: int
    by: _Made


class _Branch:
    """A stream, what belongs to it, and what it has waited for."""

    def __init__(self, number: int, stream: "Stream", pool: "MemoryPool", branches: int) -> None:
        self.number, self.stream, self.pool = number, stream, pool
        size = cublas.SMALL_WORKSPACE if number else cublas.WORKSPACE
        self.workspace = pool.malloc(size)
        self.handle = cublas.Handle(stream.ptr, self.workspace.ptr, size)
        self.calls = self.handle.calls()
        self.marks: list[_Mark] = []
        self.seen = [0] * branches
        """For each branch how many of its operations come before the next one here."""
        self.held: list[_Held] = []
        self.most = 0
        """Bytes that were in use at a time."""


class Branches:
    """So many streams, the first of which is given: a recording starts and ends on it."""

    def __init__(self, stream: "Stream", count: int) -> None:
        from cupy.cuda import MemoryPool, Stream

        streams = [stream, *(Stream(non_blocking=True) for _ in range(1, count))]
        self._all = [_Branch(number, one, MemoryPool(), count) for number, one in enumerate(streams)]
        self._now = self._all[0]
        self._made: dict[int, _Made] = {}
        """By the identity of its owner, for memory that was written by an operation and has not been let go since."""

    @property
    def bytes(self) -> int:
        """The memory of the pools."""
        return sum(branch.pool.total_bytes() for branch in self._all)

    @property
    def stream(self) -> "Stream":
        """The first."""
        return self._all[0].stream

    @property
    def calls(self) -> cublas.Calls:
        """The products on the first stream."""
        return self._all[0].calls

    def allocate(self, size: int) -> "MemoryPointer":
        """Memory for the branch whose operation is under way."""
        branch = self._now
        made = branch.pool.malloc(size)
        branch.most = max(branch.most, branch.pool.used_bytes())
        return made

    def gather(self) -> None:
        """After a first run: what is free becomes one piece, as large as was needed, for the runs to come.

        While needs grow a pool takes piece after piece, each too small for the next array."""
        for branch in self._all:
            branch.pool.free_all_blocks()
            if (size := branch.most - branch.pool.used_bytes()) > 0:
                with branch.stream:
                    branch.pool.malloc(size)

    def start(self) -> None:
        """Before the first operation, on the first stream: the others wait for what was done there until now."""
        from cupy.cuda import Event

        for branch in self._all:
            branch.seen = [0] * len(self._all)
            branch.marks = []
        if len(self._all) > 1:
            self._begin = Event(disable_timing=True)
            self._begin.record(self._all[0].stream)

    def work(
        self, number: int, operands: Sequence[object], do: Callable[[Sequence[object]], list[object]]
    ) -> list[object]:
        """The results of an operation on a branch."""
        from cupy.cuda import Event

        branch = self._all[number]
        if number and not branch.marks:
            branch.stream.wait_event(self._begin)
        given = [self._brought(branch, one) if isinstance(one, CudaTensor) else one for one in operands]
        self._let_go(branch)
        self._now = branch
        try:
            with branch.stream, cublas.recording.within(branch.calls), plans.branch.within(number):
                results = do(given)
                # What is pending is computed now.
                owners: list[object] = [one.data.owner for one in results if isinstance(one, CudaTensor)]
        finally:
            self._now = self._all[0]
        known = {id(one.data.owner) for one in given if isinstance(one, CudaTensor)}
        branch.seen[number] += 1
        for owner in owners:
            if id(owner) not in known:  # else it is a view
                self._made[id(owner)] = _Made(number, branch.seen[number])
        event = Event(disable_timing=True)
        event.record(branch.stream)
        branch.marks.append(_Mark(event, branch.seen.copy()))
        return results

    def join(self) -> None:
        """The first stream waits for all."""
        for branch in self._all[1:]:
            if branch.marks:
                self._wait(self._all[0], _Made(branch.number, branch.seen[branch.number]))
        self._made.clear()
        for branch in self._all:
            branch.held.clear()

    def _brought[D: Floating](self, branch: _Branch, one: CudaTensor[D]) -> CudaTensor[D]:
        """An operand, once it is there. On another branch than its own it is another array in the same memory.

        What is kept beside an array, such as a copy in another order, is thus never seen by another branch."""
        owner: object = one.data.owner
        made = self._made.get(id(owner), _Made(0, 0))
        if made.branch == branch.number:
            return one
        if made.number:
            self._wait(branch, made)
            size = one.data.count * one.data.itemsize
            by = _Made(branch.number, branch.seen[branch.number] + 1)
            self._all[made.branch].held.append(_Held(owner, size, by))
        return type(one)(_again(one.data), one.space)

    def _wait(self, branch: _Branch, made: _Made) -> None:
        """What a branch does from now on comes after an operation of another one."""
        if branch.seen[made.branch] >= made.number:
            return
        mark = self._all[made.branch].marks[made.number - 1]
        branch.stream.wait_event(mark.event)
        branch.seen = list(map(max, branch.seen, mark.seen))

    def _let_go(self, branch: _Branch) -> None:
        """Memory that no other branch works with any more; where it is much, some is waited for."""
        total = 0
        for held in reversed(branch.held):  # the newest first
            total += held.bytes
            if total > _MOST:
                self._wait(branch, held.by)
        branch.held = [held for held in branch.held if branch.seen[held.by.branch] < held.by.number]


def _again(data: DeviceArray) -> DeviceArray:
    return data.view(data.shape, data.strides)
