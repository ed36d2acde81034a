"""Chrome's trace file, which https://ui.perfetto.dev and chrome://tracing show.

The format: "Trace Event Format", Google 2016; complete events, times in microseconds.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from moonxi.profiled.row import Direction

type Event = tuple[str, Direction, int, int, int, int, int, str]
"""One call: operation, direction, start, duration, thread, bytes, floating-point operations, and the path of the layer
whose forward it is in, if any. Times are in nanoseconds.

A plain tuple of numbers and texts, of which Python's garbage collector takes no notice: a profile holds a million."""


def save(path: str | Path, events: Iterable[Event], left_out: int) -> None:
    """Write the events as a trace file."""
    trace = {
        "traceEvents": [_complete(event) for event in events],
        "displayTimeUnit": "ms",
        "otherData": {"events left out": str(left_out)},
    }
    Path(path).write_text(json.dumps(trace, separators=(",", ":")), encoding="utf-8")


def _complete(event: Event) -> dict[str, object]:
    operation, direction, start, duration, thread, moved, flops, layer = event
    arguments: dict[str, object] = {"bytes": moved, "flops": flops}
    return {
        "name": operation,
        "cat": direction,
        "ph": "X",
        "ts": start / 1e3,
        "dur": duration / 1e3,
        "pid": 0,
        "tid": thread,
        "args": {**arguments, "layer": layer} if layer else arguments,
    }
