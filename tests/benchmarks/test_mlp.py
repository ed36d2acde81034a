"""The benchmark runs, and says so when what it compares is not the same. No times are tested."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import mlp, mlp_task, operations
from benchmarks.comparison import disagreement, rows
from benchmarks.report import Spread

CHECKOUT = Path(__file__).parents[2]
SMALLEST = ("--rounds", "2", "--steps", "2", "--calls", "3", "--threads", "1")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, CHECKOUT / "benchmarks" / "mlp.py", *arguments],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_smallest_run_measures_every_system_at_every_workload(tmp_path: Path) -> None:
    file = tmp_path / "a new folder" / "mlp.json"
    done = run(*SMALLEST, "--json", str(file))
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert {"date", "cpu", "load average", "versions"} <= found.keys()
    assert {"moonxi", "python", "numpy"} == found["versions"].keys()
    rows = found["rows"]
    assert {row["threads"] for row in rows} == {1}
    assert all(0.0 < row["ms_min"] <= row["ms_median"] <= row["ms_max"] for row in rows)
    measured = {(row["group"], row["workload"], row["system"]) for row in rows}
    assert len(measured) == len(rows)
    assert {system for group, _, system in measured if group == mlp_task.GROUP} == {"moonxi eager", "NumPy by hand"}
    levels = {"NumPy", "NpArray", "Grad[NpArray]", "Grad[Grad[NpArray]]"}
    for workload in operations.STATEMENTS:
        assert {system for _, own, system in measured if own == workload} == levels
    assert {system for group, _, system in measured if group == operations.LAYER} == {
        "unchecked",
        "checked, new shape",
        "checked, known shape",
    }
    tables = file.with_suffix(".md").read_text()
    assert tables == done.stdout
    assert tables.count("\n## ") == 3


def test_an_interpreter_that_is_not_there_is_a_wrong_option() -> None:
    done = run(*SMALLEST, "--torch-python", "no/python")
    assert done.returncode == 2
    assert "--torch-python no/python: there is no such program" in done.stderr


def test_a_worker_that_ends_is_named_and_its_own_message_is_shown(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'there is no PyTorch here' >&2\nexit 3\n")
    python.chmod(0o755)
    done = run(*SMALLEST, "--torch-python", str(python))
    assert done.returncode == 1
    assert "there is no PyTorch here" in done.stderr
    assert "benchmarks.mlp_torch ended with status 3" in done.stderr


def test_systems_that_train_differently_are_not_compared() -> None:
    assert disagreement({"a": [2.0, 1.0], "b": [2.00001, 1.00001], "c": [2.0, 1.0]}, 1e-4) is None
    assert disagreement({"a": [2.0, 1.0], "b": [2.0, 1.1]}, 0.2) is None
    assert disagreement({"a": [2.0, 1.0], "b": [2.0, 1.1]}, 1e-4) == (
        "the systems do not train the same: loss at step 1: 1.0 with a, 1.1 with b"
    )
    assert disagreement({"a": [2.0], "b": [float("nan")]}, 1e-4) is not None


def test_ratios_are_those_within_a_round() -> None:
    times = {"moonxi eager": [2.0, 40.0, 6.0], "PyTorch eager": [1.0, 10.0, 2.0], "NumPy by hand": [1.0, 1.0, 1.0]}
    found = {row.system: row for row in rows({(mlp_task.GROUP, "w", 1): times}, mlp.REFERENCES)}
    assert found["moonxi eager"].relative_to == "PyTorch eager"
    assert found["moonxi eager"].ratio == Spread(3.0, 2.0, 4.0)
    assert found["moonxi eager"].ms == Spread(6.0, 2.0, 40.0)


@pytest.mark.parametrize("option", ["--rounds", "--steps", "--calls", "--threads"])
def test_nothing_can_be_measured_zero_times(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        mlp.main([option, "0"])
    assert "--threads, --rounds, --steps and --calls are at least 1" in capsys.readouterr().err
