"""`Profile`: collects the calls of `Profiled` tensors, and says where the time went."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter_ns
from typing import override

from moonxi.computing import current_layer
from moonxi.profiled import trace
from moonxi.profiled.row import Direction, Row, table
from moonxi.profiled.trace import Event
from moonxi.profiled.work import Work
from moonxi.settings import whole
from moonxi.traits.passes import in_backward_pass


def _ready() -> None:
    """The synchronisation of a host, which has finished when it returns."""


@dataclass(slots=True)
class _Call:
    """One that is running. Times are in nanoseconds."""

    operation: str
    direction: Direction
    layer: str
    start: int = 0
    within: int = 0
    """The time in calls within this one."""


@dataclass(slots=True)
class _Sums:
    """Of the finished calls of one row."""

    calls: int = 0
    total: int = 0
    own: int = 0
    bytes: int = 0
    flops: int = 0


class _Running(threading.local):
    """The calls that run in this thread, the innermost last."""

    def __init__(self) -> None:
        self.calls: list[_Call] = []


class Profile:
    """The time of operations: ``print(profile)`` gives a table, `save_trace` a file for a trace viewer.

    ``synchronize`` is called before each look at the clock: give a function that waits for the device where operations
    return before they are done. For `save_trace` the first ``events`` calls are kept one by one."""

    def __init__(self, *, synchronize: Callable[[], object] = _ready, events: int = 1_000_000) -> None:
        whole("Profile", 0, events=events)
        self._synchronize = synchronize
        self._limit = events
        self._running = _Running()
        self._lock = threading.Lock()
        self._start = perf_counter_ns()
        self._sums: dict[tuple[str, Direction], _Sums] = {}
        self._events: list[Event] = []
        self._left_out = 0
        self._threads: dict[int, int] = {}

    def clear(self) -> None:
        """Forget the calls until now, such as those of a first step that warms up."""
        with self._lock:
            self._start = perf_counter_ns()
            self._sums.clear()
            self._events.clear()
            self._left_out = 0

    # -- collecting ----------------------------------------------------------------------------------------------

    @contextmanager
    def section(self, name: str, /) -> Iterator[None]:
        """Time what runs within this context as a row of its own: a layer, the loading of data, a step."""
        call = self._begin(name, "section")
        try:
            yield
        finally:
            self._end(call, Work())

    def measure[R](self, operation: str, compute: Callable[[], R], work: Callable[[R], Work], /) -> R:
        """The result of ``compute``, with its time noted as that of the operation; of one that raises nothing is."""
        call = self._begin(operation, "backward" if in_backward_pass() else "forward")
        try:
            result = compute()
            end = self._now()
        except BaseException:
            self._running.calls.pop()
            raise
        self._end(call, work(result), end)
        return result

    def _now(self) -> int:
        self._synchronize()
        return perf_counter_ns()

    def _begin(self, operation: str, direction: Direction) -> _Call:
        call = _Call(operation, direction, current_layer())
        self._running.calls.append(call)
        call.start = self._now()
        return call

    def _end(self, call: _Call, work: Work, end: int | None = None) -> None:
        duration = (self._now() if end is None else end) - call.start
        outer = self._running.calls
        outer.pop()
        if outer:
            outer[-1].within += duration
        key = call.operation, call.direction
        again = bool(outer) and any((one.operation, one.direction) == key for one in outer)
        with self._lock:
            sums = self._sums.setdefault(key, _Sums())
            sums.calls += 1
            sums.total += 0 if again else duration
            sums.own += duration - call.within
            sums.bytes += work.bytes
            sums.flops += work.flops
            if len(self._events) < self._limit:
                thread = self._threads.setdefault(threading.get_ident(), len(self._threads))
                since = call.start - self._start
                self._events.append(
                    (call.operation, call.direction, since, duration, thread, work.bytes, work.flops, call.layer)
                )
            else:
                self._left_out += 1

    # -- what was found --------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """The time in all operations and sections, each moment once; of several threads, their sum."""
        return sum(sums.own for _, sums in self._noted()) / 1e9

    @property
    def rows(self) -> tuple[Row, ...]:
        """A row for each operation and direction, those with the most time of their own first."""
        noted = self._noted()
        everything = sum(sums.own for _, sums in noted)
        rows = (
            Row(
                operation,
                direction,
                sums.calls,
                sums.total / 1e9,
                sums.own / 1e9,
                sums.own / everything if everything else 0.0,
                sums.bytes,
                sums.flops,
            )
            for (operation, direction), sums in noted
        )
        return tuple(sorted(rows, key=lambda row: (-row.own, row.operation, row.direction)))

    def _noted(self) -> list[tuple[tuple[str, Direction], _Sums]]:
        with self._lock:
            return [(key, replace(sums)) for key, sums in self._sums.items()]

    @override
    def __str__(self) -> str:
        return table(self.rows)

    def save_trace(self, path: str | Path, /) -> None:
        """Write the calls as a Chrome trace, a JSON file that https://ui.perfetto.dev shows."""
        with self._lock:
            events = tuple(self._events)
        trace.save(path, events, self._left_out)
