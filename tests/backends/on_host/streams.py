"""Streams, memory and CUDA graphs of a GPU that is none: work is done at once, or written down for a graph.

A graph knows what each piece of work waits for, and nothing else: it is launched in another order each time that this
allows, so that what should have waited is seen to be wrong.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

type Work = Callable[[], object]


class Memory:
    """Bytes, from a multiple of 16 on."""

    def __init__(self, size: int, pool: "MemoryPool | None" = None) -> None:
        # Poison: what a kernel leaves unwritten is seen.
        self.buffer = np.full(max(size, 1) + 16, 0xFB, np.uint8)
        self.ptr = (self.buffer.ctypes.data + 15) // 16 * 16
        self._size, self._pool = size, pool

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.free.setdefault(self._size, []).append(self.buffer)


class MemoryPool:
    """It gives the memory that came back last, as CuPy's does."""

    def __init__(self) -> None:
        self.free: dict[int, list[Any]] = {}
        self.taken = 0

    def malloc(self, size: int) -> Memory:
        made = Memory.__new__(Memory)
        free = self.free.get(size)
        if free:
            made.buffer = free.pop()
            made.ptr = (made.buffer.ctypes.data + 15) // 16 * 16
            made._size, made._pool = size, self
            return made
        self.taken += size
        made.__init__(size, self)  # type: ignore[misc]  # made above, without what it needs no more
        return made

    def total_bytes(self) -> int:
        return self.taken

    def used_bytes(self) -> int:
        return self.taken - sum(size * len(free) for size, free in self.free.items())

    def free_all_blocks(self) -> None:
        self.taken = self.used_bytes()
        self.free.clear()


class Capture:
    """What is being written down: work, and the numbers of what each piece waits for."""

    def __init__(self) -> None:
        self.work: list[tuple[Work, frozenset[int]]] = []
        self.streams: list[Stream] = []


_orders = random.Random(0)


def _first(ready: list[int]) -> int:
    return min(ready)


def _last(ready: list[int]) -> int:
    return max(ready)


class Graph:
    def __init__(self, capture: Capture) -> None:
        self.work = capture.work

    def launch(self, stream: "Stream | None" = None) -> None:
        assert not is_capturing()
        users: list[list[int]] = [[] for _ in self.work]
        missing = [len(before) for _, before in self.work]
        for number, (_, before) in enumerate(self.work):
            for one in before:
                users[one].append(number)
        ready = [number for number, count in enumerate(missing) if not count]
        choose: Callable[[list[int]], int] = (_first, _last, _orders.choice)[_orders.randrange(3)]
        done = 0
        while ready:
            number = choose(ready)
            ready.remove(number)
            self.work[number][0]()
            done += 1
            for user in users[number]:
                missing[user] -= 1
                if not missing[user]:
                    ready.append(user)
        assert done == len(self.work)


class Stream:
    """A stream; entered, it is the current one."""

    def __init__(self, *, non_blocking: bool = False, ptr: int | None = None) -> None:
        self.ptr = id(self) if ptr is None else ptr
        self.capture: Capture | None = None
        self.last: frozenset[int] = frozenset()
        """What the next piece of work in a capture waits for."""
        self._before: list[Stream] = []

    def __enter__(self) -> Self:
        _state["stream"], before = self, _state["stream"]
        self._before.append(before)
        return self

    def __exit__(self, *_: object) -> None:
        _state["stream"] = self._before.pop()

    def synchronize(self) -> None:
        assert self.capture is None, "a host that waits for a stream that captures"

    def wait_event(self, event: "Event") -> None:
        if event.capture is None:
            assert self.capture is None, "a capture that waits for what is outside of it"
            return
        assert self.capture in (None, event.capture)
        if self.capture is None:
            self.capture, self.last = event.capture, frozenset()
            event.capture.streams.append(self)
        self.last |= event.last

    @staticmethod
    def from_external(stream: Any) -> "Stream":
        return Stream(ptr=stream.__cuda_stream__()[1])

    def begin_capture(self) -> None:
        assert self.capture is None
        assert self.ptr != 0
        self.capture, self.last = Capture(), frozenset()

    def end_capture(self) -> Graph:
        assert self.capture is not None
        capture = self.capture
        before = set(self.last)
        for number in reversed(range(len(capture.work))):
            if number in before:
                before |= capture.work[number][1]
        for stream in capture.streams:
            assert stream.last <= before, "a stream that has not been joined"
            stream.capture = None
        self.capture = None
        return Graph(capture)


class Event:
    """A place in a stream; of a stream that does not capture everything is done at once."""

    def __init__(self, *, disable_timing: bool = False) -> None:
        self.capture: Capture | None = None
        self.last: frozenset[int] = frozenset()

    def record(self, stream: Stream) -> None:
        self.capture, self.last = stream.capture, stream.last

    def synchronize(self) -> None: ...


class PinnedMemory:
    """Memory of the host that the device reads by itself."""

    def __init__(self, size: int) -> None:
        self._array = np.zeros(size, np.uint8)
        self.ptr = self._array.ctypes.data

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._array)


_state: dict[str, Any] = {"stream": Stream(ptr=0), "allocator": Memory}


def current() -> Stream:
    found: Stream = _state["stream"]
    return found


def is_capturing() -> bool:
    return current().capture is not None


def do(work: Work) -> None:
    """Now, or when the graph that is being captured is launched."""
    stream = current()
    if stream.capture is None:
        work()
    else:
        stream.capture.work.append((work, stream.last))
        stream.last = frozenset((len(stream.capture.work) - 1,))


def alloc(size: int) -> Memory:
    made: Memory = _state["allocator"](size)
    return made


@contextmanager
def using_allocator(allocator: Callable[[int], Memory]) -> Iterator[None]:
    before, _state["allocator"] = _state["allocator"], allocator
    try:
        yield
    finally:
        _state["allocator"] = before
