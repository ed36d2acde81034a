"""Effects of a step that no graph shows, such as a line that it prints: found while the step is traced."""

import builtins
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from moonxi.compiled.graph import Line
from moonxi.compiled.surroundings import is_users_module
from moonxi.errors import CompileError

_EFFECTS = ((builtins.print, "prints"), (builtins.input, "reads a line"), (io.open, "opens a file"))


@contextmanager
def without_effects() -> Iterator[None]:
    """Raises `CompileError` at the end if something was printed, written or asked for; it names the first line."""
    before = sys.getprofile()
    found: list[str] = []

    def look(frame: FrameType, event: str, argument: object) -> None:
        if event == "c_call" and not found and (effect := _effect(argument)) is not None:
            found.append(f"at {_line(frame)} the step {effect}")

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
    if found:
        raise CompileError(
            f"compile: {found[0]}: a replay would not; return what is to be seen as a result, and show it outside of "
            "the step"
        )


def _line(frame: FrameType) -> Line:
    while not is_users_module(str(frame.f_globals.get("__name__", ""))) and frame.f_back is not None:
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno)


def _effect(function: object) -> str | None:
    if getattr(function, "__name__", "") in ("write", "writelines"):
        return "writes to a file" if isinstance(getattr(function, "__self__", None), io.IOBase) else None
    return next((effect for known, effect in _EFFECTS if function is known), None)
