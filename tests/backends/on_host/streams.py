"""Streams, memory and CUDA graphs of a GPU that is none: work is done at once, or written down for a graph."""

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


class Graph:
    def __init__(self, work: list[Work]) -> None:
        self.work = work

    def launch(self) -> None:
        assert not is_capturing()
        for one in self.work:
            one()


class Stream:
    """A stream; entered, it is the current one."""

    def __init__(self, *, non_blocking: bool = False, ptr: int | None = None) -> None:
        self.ptr = id(self) if ptr is None else ptr
        self.captured: list[Work] | None = None
        self._before: list[Stream] = []

    def __enter__(self) -> Self:
        _state["stream"], before = self, _state["stream"]
        self._before.append(before)
        return self

    def __exit__(self, *_: object) -> None:
        _state["stream"] = self._before.pop()

    def synchronize(self) -> None:
        assert self.captured is None, "a host that waits for a stream that captures"

    def wait_event(self, event: "Event") -> None:
        assert self.captured is None

    def begin_capture(self) -> None:
        assert self.captured is None
        assert self.ptr != 0
        self.captured = []

    def end_capture(self) -> Graph:
        assert self.captured is not None
        work, self.captured = self.captured, None
        return Graph(work)


class Event:
    def __init__(self, *, disable_timing: bool = False) -> None: ...
    def record(self, stream: Stream) -> None: ...


_state: dict[str, Any] = {"stream": Stream(ptr=0), "allocator": Memory}


def current() -> Stream:
    found: Stream = _state["stream"]
    return found


def is_capturing() -> bool:
    return current().captured is not None


def do(work: Work) -> None:
    """Now, or when the graph that is being captured is launched."""
    captured = current().captured
    if captured is None:
        work()
    else:
        captured.append(work)


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
