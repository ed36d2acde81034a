"""``moonxi bench``: it runs, compares what is computed, and says what does not run. No times are tested."""

import json
import os
import re
from pathlib import Path

import pytest

from moonxi.cli import main
from moonxi.cli.bench.command import measured
from moonxi.cli.bench.workloads import WORKLOADS, Task
from moonxi.errors import MoonxiError

SMALLEST = ("bench", "--rounds", "1", "--steps", "1")
TORCH = os.environ.get("MOONXI_TORCH_PYTHON")
type Captured = pytest.CaptureFixture[str]


@pytest.fixture
def no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moonxi.cli.bench.command.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_peer")
def test_the_smallest_run_times_both_networks_eager_and_compiled(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "bench.json"
    assert main([*SMALLEST, "--json", str(file)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [re.split(r"  +", line)[:2] for line in out[2:]] == [
        [workload.title, system] for workload in WORKLOADS for system in ("moonxi", "moonxi compiled")
    ]
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    assert [row["ratio"] == 1.0 for row in rows if row["system"] == "moonxi"] == [True, True]
    assert all(0.0 < row["ms_min"] <= row["ms_median"] <= row["ms_max"] for row in rows)


@pytest.mark.slow
@pytest.mark.skipif(TORCH is None, reason="MOONXI_TORCH_PYTHON names no interpreter with PyTorch")
def test_pytorch_computes_the_same_and_is_what_the_others_are_compared_to(capsys: Captured) -> None:
    assert main([*SMALLEST, "--torch-python", str(TORCH)]) == 0
    out = capsys.readouterr().out
    assert ", torch " in out
    assert "the ratio to PyTorch" in out


class Fixed:
    """A system with losses and times of its own."""

    def __init__(self, name: str, loss: float, times: list[float]) -> None:
        self.name = name
        self._loss = loss
        self._times = iter([1.0, *times])

    def losses(self, steps: int, /) -> list[float]:
        return [self._loss] * steps

    def times(self, steps: int, /) -> list[float]:
        return [next(self._times)] * steps


def test_ratios_are_those_within_the_turns() -> None:
    one, other = measured("w", [Fixed("A", 2.0, [1.0, 2.0, 8.0]), Fixed("B", 2.00001, [3.0, 4.0, 4.0])], 3, 2)
    assert (one.ms_median, one.ms_min, one.ms_max, one.ratio) == (2.0, 1.0, 8.0, 1.0)
    assert (other.relative_to, other.ratio) == ("A", 2.0)


def test_systems_that_compute_something_else_are_refused() -> None:
    with pytest.raises(MoonxiError, match=r"^bench: w: not the same training: losses \[2\.1, .* with B, \[2\.0, "):
        measured("w", [Fixed("A", 2.0, []), Fixed("B", 2.1, [])], 1, 1)


def test_a_python_without_pytorch_is_named_with_what_it_said(capsys: Captured, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'there is no PyTorch here' >&2\nexit 3\n")
    python.chmod(0o755)
    assert main([*SMALLEST, "--torch-python", str(python)]) == 1
    error = capsys.readouterr().err
    assert re.fullmatch(r"moonxi: bench: .*/python: PyTorch does not run there: there is no PyTorch here\n", error)


@pytest.mark.usefixtures("no_peer")
def test_mistakes_are_said_in_a_line(capsys: Captured) -> None:
    assert main([*SMALLEST, "--torch-python", "no-such"]) == 1
    assert capsys.readouterr().err == "moonxi: bench: --torch-python no-such: there is no such program\n"
    with pytest.raises(SystemExit) as ended:
        main(["bench", "--rounds", "0"])
    assert ended.value.code == 2
    assert "--rounds: '0': expected a whole number from 1" in capsys.readouterr().err
    assert main([*SMALLEST, "--json", "/nowhere/b.json"]) == 1
    assert capsys.readouterr().err == "moonxi: bench: /nowhere/b.json: cannot be written: No such file or directory\n"


def test_a_task_is_the_same_each_time() -> None:
    one, other = Task.new(WORKLOADS[0]), Task.new(WORKLOADS[0])
    assert [a.tobytes() for a in one.weights] == [b.tobytes() for b in other.weights]
    assert one.images.tobytes() == other.images.tobytes()
