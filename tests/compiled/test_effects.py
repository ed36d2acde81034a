"""What a step prints or writes is refused at its line: a replay would not do it."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import moonxi as mx
from moonxi.errors import CompileError

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()


def shows(x: Host) -> Host:
    print("a line")
    return x * 2.0


def writes(x: Host) -> Host:
    sys.stderr.write("a line\n")
    return x * 2.0


def opens(x: Host) -> Host:
    with open("/dev/null", "w"):
        return x * 2.0


def writes_text(x: Host) -> Host:
    Path("/dev/null").write_text("a line")
    return x * 2.0


def logs(x: Host) -> Host:
    logging.getLogger("test").error("a line")
    return x * 2.0


def inner(x: Host) -> Host:
    print("from within")
    return x


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (shows, "prints"),
        (writes, "writes to a file"),
        (opens, "opens a file"),
        (writes_text, "opens a file"),
        (logs, "writes to a file"),
    ],
)
def test_what_a_step_prints_or_writes_is_refused_at_its_line(
    step: Callable[[Host], Host], text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "log").open("w") as file:
        monkeypatch.setattr(sys, "stderr", file)
        handler = logging.StreamHandler(file)
        monkeypatch.setattr(logging.getLogger("test"), "handlers", [handler])
        with pytest.raises(CompileError, match=f"test_effects.py:.* the step {text}: a replay would not; return"):
            mx.compile(step)(CPU.ones(()))
    assert sys.getprofile() is None


def test_the_line_is_that_of_the_function_that_prints() -> None:
    def step(x: Host) -> Host:
        return inner(x) * 2.0

    line = inner.__code__.co_firstlineno + 1
    with pytest.raises(CompileError, match=f"at .*test_effects.py:{line} the step prints"):
        mx.compile(step)(CPU.ones(()))


def test_a_line_that_is_not_printed_is_no_effect(capsys: pytest.CaptureFixture[str]) -> None:
    def step(x: Host, loud: bool) -> Host:
        if loud:
            print("a line")
        return x * 2.0

    assert mx.compile(step)(CPU.ones(()), False).item() == 2.0
    assert capsys.readouterr().out == ""


def test_a_profiler_that_runs_goes_on() -> None:
    seen = []

    def look(*event: object) -> None:
        seen.append(event)

    def step(x: Host) -> Host:
        if x.shape:
            print("a line")
        return x * 2.0

    sys.setprofile(look)
    try:
        mx.compile(step)(CPU.ones(()))
        assert sys.getprofile() is look
    finally:
        sys.setprofile(None)
