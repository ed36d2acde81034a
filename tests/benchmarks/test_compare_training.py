"""Training side by side, at a tiny size. No times are tested."""

import csv
import os
import re
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from benchmarks.compare_training import main, resnet_weights, task_of
from benchmarks.comparison import Worker
from benchmarks.training_moonxi import Moonxi, loss, new_resnet, optimizer
from benchmarks.training_report import Epoch, by_system, summary
from benchmarks.training_task import CIFAR10, MNIST, Split, Task
from moonxi.data import DataLoader, mnist
from tests.examples.program import AS_AT_A_TERMINAL

CHECKOUT = Path(__file__).parents[2]
TORCH = os.environ.get("MOONXI_TORCH_PYTHON")


COMMAND = [sys.executable, str(CHECKOUT / "benchmarks" / "compare_training.py")]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(CHECKOUT)}
FILES = {"log.txt", "epochs.csv", "curves.svg", "curves.png", "summary.md"}


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False)


def epochs(folder: Path) -> dict[str, list[tuple[float, ...]]]:
    """Losses and accuracies by system."""
    with (folder / "epochs.csv").open(newline="", encoding="utf-8") as file:
        found: dict[str, list[tuple[float, ...]]] = {}
        for row in csv.DictReader(file):
            kinds = ("train_loss", "train_accuracy", "test_loss", "test_accuracy")
            found.setdefault(row["system"], []).append(tuple(float(row[kind]) for kind in kinds))
        return found


def alike(one: list[tuple[float, ...]], other: list[tuple[float, ...]]) -> None:
    """Losses up to what rounding grows to; accuracies but for a sample or two on the edge."""
    np.testing.assert_allclose(np.array(one)[:, [0, 2]], np.array(other)[:, [0, 2]], rtol=1e-2)
    np.testing.assert_allclose(np.array(one)[:, [1, 3]], np.array(other)[:, [1, 3]], atol=0.06)


def test_a_small_run_leaves_log_table_curves_and_summary(tmp_path: Path) -> None:
    done = run("mnist", "--limit", "200", "--epochs", "2", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert {one.name for one in out.iterdir()} == FILES
    found = epochs(out)
    assert found.keys() == {"moonxi", "moonxi compiled"}
    alike(found["moonxi"], found["moonxi compiled"])
    first, second = found["moonxi"]
    assert second[0] < first[0]
    assert "- images: 200 to learn from, 40 to be tested on\n" in (out / "summary.md").read_text(encoding="utf-8")
    assert done.stdout.startswith((out / "log.txt").read_text(encoding="utf-8"))
    assert done.stdout.endswith((out / "summary.md").read_text(encoding="utf-8") + "\n")


def reported(folder: Path, planned: int) -> list[int]:
    """How many epochs log, table and summary of a run that was stopped have, of one system with one seed."""
    assert {one.name for one in folder.iterdir()} == FILES
    text = (folder / "summary.md").read_text(encoding="utf-8")
    found = re.match(rf"# mnist: moonxi and PyTorch through (\d+) of {planned} epochs\n", text)
    assert found is not None, text
    assert f"- epochs: {found[1]} of {planned}; the run was stopped, or still goes on\n" in text
    lines = (folder / "log.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split()[1] for line in lines] == [f"{epoch + 1}/{planned}" for epoch in range(len(lines))]
    return [len(lines), len(epochs(folder)["moonxi compiled"]), int(found[1])]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_leaves_the_report_of_the_epochs_before(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    out, own = tmp_path / "out", tmp_path / "temporary"
    own.mkdir()
    program, file = COMMAND
    options = ["mnist", "--limit", "100", "--epochs", "5000", "--without-eager", "--out"]
    command = [program, "-c", AS_AT_A_TERMINAL, file, *options, str(out)]
    with subprocess.Popen(
        command, env=ENVIRONMENT | {"TMPDIR": str(own)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        before = list(takewhile(lambda line: not line.startswith("epoch 4/"), process.stdout))
        process.send_signal(number)
        _, errors = process.communicate()
    assert len(before) == 3
    assert (process.returncode, errors) == (status, "")
    counts = reported(out, 5000)
    assert min(counts) >= 3
    assert max(counts) <= min(counts) + 1  # stopped between two files
    assert list(own.iterdir()) == []


def test_a_worker_that_dies_costs_no_earlier_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Worker.ask

    def dies(self: Worker, question: str, number: int = 0) -> Any:
        if number == 2:
            self._process.kill()
        return ask(self, question, number)

    monkeypatch.setattr(Worker, "ask", dies)
    with pytest.raises(SystemExit, match=r"^compare_training: benchmarks\.training_moonxi ended with status -9"):
        main(["mnist", "--limit", "100", "--epochs", "4", "--without-eager", "--out", str(tmp_path)])
    assert reported(tmp_path, 4) == [2, 2, 2]


def test_seeds_train_at_a_time_and_are_reported_together(tmp_path: Path) -> None:
    done = run("mnist", "--limit", "100", "--epochs", "1", "--seeds", "2", "--without-eager", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "epochs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["system"], row["seed"]) for row in rows] == [("moonxi compiled", "0"), ("moonxi compiled", "1")]
    assert rows[0]["train_loss"] != rows[1]["train_loss"]
    mean = sum(float(row["test_accuracy"]) for row in rows) / 2
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert f"| {mean:.4f} ({float(rows[0]['test_accuracy']):.4f}, {float(rows[1]['test_accuracy']):.4f}) |" in text


@pytest.mark.slow
@pytest.mark.skipif(TORCH is None, reason="MOONXI_TORCH_PYTHON names no interpreter with PyTorch")
def test_pytorch_goes_the_same_way(tmp_path: Path) -> None:
    done = run("mnist", "--limit", "500", "--epochs", "2", "--out", tmp_path, "--torch-python", str(TORCH))
    assert done.returncode == 0, done.stderr
    found = epochs(tmp_path)
    alike(found["moonxi"], found["PyTorch"])


def test_both_sides_read_what_was_written_and_the_order_is_that_of_a_loader(tmp_path: Path) -> None:
    data = mnist(mx.numpy())
    task = task_of(MNIST, data, 2, 5, 100)
    task.save(tmp_path / "task.npz")
    again = Task.load(str(tmp_path / "task.npz"))
    assert again.settings == MNIST
    names = {f"{layer}.{kind}" for layer in ("first", "second", "third") for kind in ("weight", "bias")}
    assert again.weights.keys() == task.weights.keys() == names
    loader = DataLoader(data.train.split(100, seed=5)[0], batch_size=64, seed=5)
    for (pixels, labels), batch in zip(again.epoch(1), loader.epoch(1), strict=True):
        assert np.array_equal(pixels, batch.x.to_host())
        assert np.array_equal(labels, batch.labels.to_host())


def test_the_network_for_cifar_trains_and_is_evaluated() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 3, 32, 32)).astype(np.uint8)
    batch = Split(images, np.array([3, 7])).batch(slice(0, 2))
    cpu = mx.numpy()
    trainer = mx.Trainer(new_resnet(cpu, resnet_weights(0)), loss, optimizer(CIFAR10, 1), key=mx.Key(0))
    learner = Moonxi(cpu, trainer)
    before, _ = learner.step(*batch, 0)
    after, _ = learner.step(*batch, 0)
    assert before != after
    assert learner.evaluate(*batch)[0] > 0.0


def row(system: str, epoch: int, loss: float, seconds: float, *, seed: int = 0, accuracy: float = 0.5) -> Epoch:
    return {
        "system": system,
        "seed": seed,
        "epoch": epoch,
        "train_loss": loss,
        "train_accuracy": accuracy,
        "test_loss": loss,
        "test_accuracy": accuracy,
        "train_seconds": seconds,
        "test_seconds": seconds / 10.0,
    }


def test_the_summary_compares_to_pytorch_within_the_epochs() -> None:
    rows = [
        row("moonxi", 2, 1.1, 4.0, accuracy=0.7),
        row("PyTorch", 1, 2.0, 2.0),
        row("PyTorch", 2, 1.0, 1.0),
        row("moonxi", 1, 2.0, 3.0),
    ]
    assert [one["epoch"] for one in by_system(rows)["moonxi"]] == [1, 2]
    text = summary(MNIST, rows, 2, {"date": "today"})
    assert text.startswith("# mnist: moonxi and PyTorch through 2 epochs\n")
    assert "| test accuracy | mean of last 2 |" in text
    assert "| moonxi | 1.1000 | 1.1000 | 0.7000 | 0.6000 | 3.50 | 0.35 | 2.75 (1.50-4.00) | 1.0e-01 |" in text


def test_beside_the_last_accuracy_stands_the_mean_of_the_last_five() -> None:
    accuracies = {0: (0.1, 0.1, 0.6, 0.7, 0.6, 0.7, 0.9), 1: (0.2, 0.2, 0.5, 0.5, 0.5, 0.5, 0.3)}
    rows = [
        row("moonxi", number + 1, 1.0, 1.0, seed=seed, accuracy=one)
        for seed, own in accuracies.items()
        for number, one in enumerate(own)
    ]
    text = summary(CIFAR10, rows, 7, {})
    assert "| test accuracy | mean of last 5 |" in text
    assert "| 0.6000 (0.9000, 0.3000) | 0.5800 (0.7000, 0.4600) |" in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("mnist", "--epochs", "0"), "--epochs, --seeds, --threads and --limit are at least 1"),
        (("mnist", "--precision", "bf16"), "--precision bf16: the CPU computes in fp32; add --gpu"),
        (("cifar10",), "cifar10: name its folder or archive with --data"),
        (("mnist", "--torch-python", "no-such"), "--torch-python no-such: there is no such program"),
        (("mnist", "--data", "nowhere"), "compare_training: mnist: nowhere: "),
        (("mnist", "--gpu", "--data", "nowhere"), "compare_training: "),
        (("mnist", "--out", __file__), f"--out {__file__}: cannot be written: File exists"),
        (("mnist", "--out", f"{__file__}/below"), f"--out {__file__}/below: cannot be written: Not a directory"),
    ],
)
def test_mistakes_are_said_in_a_line(
    arguments: tuple[str, ...], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([arguments[0], "--out", str(tmp_path), *arguments[1:]])
    assert text in f"{capsys.readouterr().err}{ended.value}"
