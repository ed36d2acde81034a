"""Chrome's trace file, which https://ui.perfetto.dev and chrome://tracing show.

The format: "Trace Event Format", Google 2016; complete events, times in microseconds.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from moonxi.profiled.row import Direction
from moonxi.profiled.work import Work


class Event(NamedTuple):
    """One call. Times are in nanoseconds since the profile began."""

    operation: str
    direction: Direction
    start: int
    duration: int
    thread: int
    work: Work


def save(path: str | Path, events: Iterable[Event], left_out: int) -> None:
    """Write the events as a trace file."""
    trace = {
        "traceEvents": [_complete(event) for event in events],
        "displayTimeUnit": "ms",
        "otherData": {"events left out": str(left_out)},
    }
    Path(path).write_text(json.dumps(trace, separators=(",", ":")), encoding="utf-8")


def _complete(event: Event) -> dict[str, object]:
    return {
        "name": event.operation,
        "cat": event.direction,
        "ph": "X",
        "ts": event.start / 1e3,
        "dur": event.duration / 1e3,
        "pid": 0,
        "tid": event.thread,
        "args": event.work._asdict(),
    }
