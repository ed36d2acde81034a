"""The benchmark of ResNet-18 runs at a tiny size. No times are tested."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import resnet, resnet_moonxi, resnet_task
from benchmarks.comparison import rows
from benchmarks.report import Spread
from benchmarks.resnet_task import Task

CHECKOUT = Path(__file__).parents[2]
SMALLEST = ("--rounds", "1", "--steps", "1", "--batch", "2", "--threads", "1")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, CHECKOUT / "benchmarks" / "resnet.py", *arguments],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_smallest_run_measures_a_step(tmp_path: Path) -> None:
    file = tmp_path / "a new folder" / "resnet.json"
    done = run(*SMALLEST, "--json", str(file))
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert {"moonxi", "python", "numpy"} == found["versions"].keys()
    [row] = found["rows"]
    assert (row["group"], row["workload"]) == (resnet_task.GROUP, "32 x 32 pixels, batch 2")
    assert (row["threads"], row["system"], row["relative_to"]) == (1, "moonxi eager", "moonxi eager")
    assert 0.0 < row["ms_min"] <= row["ms_median"] <= row["ms_max"]
    assert row["ratio_median"] == 1.0
    tables = file.with_suffix(".md").read_text()
    assert tables == done.stdout
    assert "# ResNet-18: a training step at batch 2" in tables


def test_a_worker_that_ends_is_named_and_its_own_message_is_shown(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'there is no PyTorch here' >&2\nexit 3\n")
    python.chmod(0o755)
    done = run(*SMALLEST, "--torch-python", str(python))
    assert done.returncode == 1
    assert "there is no PyTorch here" in done.stderr
    assert "benchmark-resnet: benchmarks.resnet_torch ended with status 3" in done.stderr


def test_pytorch_is_what_the_others_are_compared_to() -> None:
    fast = "PyTorch eager, channels last, fused SGD"
    times = {"moonxi eager": [3.0, 4.0], "PyTorch eager": [2.0, 2.0], fast: [1.0, 1.5]}
    found = {row.system: row for row in rows({(resnet_task.GROUP, "w", 2): times}, resnet.REFERENCES)}
    assert {row.relative_to for row in found.values()} == {"PyTorch eager"}
    assert found["moonxi eager"].ratio == Spread(1.75, 1.5, 2.0)
    assert found[fast].ratio == Spread(0.625, 0.5, 0.75)


def test_a_task_is_read_as_it_was_saved_and_the_same_each_time(tmp_path: Path) -> None:
    task = resnet.make_task(batch=2, batches=3)
    task.save(tmp_path / "task.npz")
    for other in (Task.load(str(tmp_path / "task.npz")), resnet.make_task(batch=2, batches=3)):
        assert other.weights.keys() == task.weights.keys()
        assert all(np.array_equal(other.weights[name], weight) for name, weight in task.weights.items())
        np.testing.assert_array_equal(other.images, task.images)
        np.testing.assert_array_equal(other.labels, task.labels)
    assert task.images.shape == (3, 2, 3, 32, 32)
    assert task.weights["fc.weight"].shape == (10, 512)
    assert {array.dtype for array in (*task.weights.values(), task.images)} == {np.dtype(np.float32)}


def test_steps_of_moonxi_start_from_the_weights_of_the_task_and_train() -> None:
    task = resnet.make_task(batch=4, batches=1)
    step = resnet_moonxi.make_step(task)
    losses = [step(0).item() for _ in range(4)]
    assert losses == pytest.approx([resnet_moonxi.make_step(task)(0).item(), *losses[1:]], rel=1e-5)
    assert losses[-1] < losses[0]
    biased = np.arange(10).astype(np.float32)
    other = Task(task.weights | {"fc.bias": biased}, task.images, task.labels)
    assert resnet_moonxi.make_step(other)(0).item() != pytest.approx(losses[0], rel=1e-3)


@pytest.mark.parametrize("option", ["--rounds", "--steps", "--batch", "--threads"])
def test_nothing_can_be_measured_zero_times(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        resnet.main([option, "0"])
    assert "--threads, --rounds, --steps and --batch are at least 1" in capsys.readouterr().err
