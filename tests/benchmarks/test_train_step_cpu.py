"""The benchmark of compiled steps runs, and what it compares trains the same. No times are tested."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import comparison

CHECKOUT = Path(__file__).parents[2]
COMPILED = {"moonxi eager", "moonxi compiled", *(["moonxi compiled, Numba"] if find_spec("numba") else [])}


def check(file: Path, workload: str, systems: set[str], *more: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.train_step_cpu", "--rounds", "2", "--steps", "2"),
            *("--workload", workload, "--threads", "1", "--json", str(file), *more),
        ],
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(file.read_text())["rows"]
    assert {row["system"] for row in rows} == systems
    assert all(0.0 < row["ms_min"] <= row["ms_median"] <= row["ms_max"] for row in rows)


def test_the_smallest_run_measures_every_system(tmp_path: Path) -> None:
    check(tmp_path / "steps.json", "mlp", COMPILED | {"NumPy by hand"})


@pytest.mark.slow
def test_the_smallest_run_of_resnet_measures_every_system(tmp_path: Path) -> None:
    check(tmp_path / "steps.json", "resnet18", COMPILED, "--batch", "4")


def test_thread_counts_are_given_with_commas_or_spaces() -> None:
    parser = comparison.options("", rounds=1, steps=1)
    for given in (["--threads", "1,2"], ["--threads", "1", "2"], []):
        assert comparison.parsed(parser, given, ("rounds", "steps")).threads == [1, 2]
