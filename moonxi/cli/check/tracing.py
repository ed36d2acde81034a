"""Which functions of a file ran, and where each returned: for what happens after the last line of a function."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType

_TOOL = 4  # of the numbers that Python leaves to tools; profilers, debuggers and coverage have their own
_EVENTS = sys.monitoring.events


@dataclass
class Trace:
    """What ran so far."""

    entered: set[CodeType] = field(default_factory=set)
    returned: dict[str, int] = field(default_factory=dict)
    """The line of the last return of each function, by qualified name."""

    def _start(self, code: CodeType, offset: int) -> None:
        self.entered.add(code)

    def _return(self, code: CodeType, offset: int, value: object) -> None:
        self.returned[code.co_qualname] = next(
            (line for start, end, line in code.co_lines() if start <= offset < end and line is not None),
            code.co_firstlineno,
        )


@contextmanager
def tracing(codes: Sequence[CodeType]) -> Iterator[Trace]:
    """Trace these functions, and no others, so that all else runs as fast as ever."""
    trace = Trace()
    if sys.monitoring.get_tool(_TOOL) is not None:  # somebody else's: errors then have less exact lines
        yield trace
        return
    sys.monitoring.use_tool_id(_TOOL, "moonxi check")
    try:
        sys.monitoring.register_callback(_TOOL, _EVENTS.PY_START, trace._start)
        sys.monitoring.register_callback(_TOOL, _EVENTS.PY_RETURN, trace._return)
        for code in codes:
            sys.monitoring.set_local_events(_TOOL, code, _EVENTS.PY_START | _EVENTS.PY_RETURN)
        yield trace
    finally:
        for code in codes:
            sys.monitoring.set_local_events(_TOOL, code, _EVENTS.NO_EVENTS)
        sys.monitoring.free_tool_id(_TOOL)
