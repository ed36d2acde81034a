"""A run that is killed at any moment and started again ends, to the bit, where one without a break ends."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.examples.program import CHECKOUT, environment

PROGRAM = CHECKOUT / "tests" / "train" / "resumed_run.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def start(folder: Path, result: Path, *kill: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, PROGRAM, folder, result, *kill], env=environment())


def run(folder: Path, result: Path, *kill: str) -> int:
    return start(folder, result, *kill).wait(timeout=300)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("unbroken")
    assert run(place / "run", place / "result") == 0
    return (place / "result").read_text(encoding="utf-8")


def finished(tmp_path: Path) -> str:
    assert run(tmp_path / "run", tmp_path / "result") == 0
    return (tmp_path / "result").read_text(encoding="utf-8")


def test_the_run_has_something_to_lose(unbroken: str) -> None:
    whole = json.loads(unbroken)
    assert {"velocity0", "norm.mean", "step", "conv.weight", "average of conv.weight"} <= whole["tensors"].keys()
    assert [one["steps"] for one in whole["epochs"]] == [7, 14, 21]


@pytest.mark.parametrize(
    ("operation", "number"),
    [
        ("step", 0),  # nothing was ever written
        ("step", 9),  # within an epoch
        ("os.write", 4),  # the tensors of the third checkpoint
        ("os.fsync", 7),  # after the tensors, before the manifest
        ("os.replace", 5),  # the manifest is whole beside its place
        ("unlink", 1),  # between the removal of a manifest and of its tensors
    ],
)
def test_kill_at_a_chosen_moment(tmp_path: Path, unbroken: str, operation: str, number: int) -> None:
    assert run(tmp_path / "run", tmp_path / "result", operation, str(number)) == -signal.SIGKILL
    assert not (tmp_path / "result").exists()
    assert finished(tmp_path) == unbroken
    assert not [one for one in (tmp_path / "run").iterdir() if one.name.startswith(".")]


def test_kill_again_and_again(tmp_path: Path, unbroken: str) -> None:
    for _ in range(3):
        assert run(tmp_path / "run", tmp_path / "result", "step", "4") == -signal.SIGKILL
    assert finished(tmp_path) == unbroken
    log = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in log] == ["epoch", "1", "2", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_kill_at_a_random_moment(tmp_path: Path, unbroken: str, seed: int) -> None:
    """From outside, at any time from its first checkpoint on, whatever it is doing then."""
    process = start(tmp_path / "run", tmp_path / "result")
    while process.poll() is None and not list((tmp_path / "run").glob("*.json")):
        time.sleep(0.001)
    time.sleep(random.Random(seed).uniform(0.0, 0.25))
    process.kill()
    process.wait()
    assert finished(tmp_path) == unbroken


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_kill_at_a_random_operation_of_writing(tmp_path: Path, unbroken: str, seed: int) -> None:
    choose = random.Random(seed)
    operation = choose.choice(["os.write", "os.fsync", "os.replace", "unlink"])
    number = choose.randrange({"os.write": 26, "os.fsync": 52, "os.replace": 26, "unlink": 20}[operation])
    assert run(tmp_path / "run", tmp_path / "result", operation, str(number)) in (0, -signal.SIGKILL)
    assert finished(tmp_path) == unbroken
