"""Training side by side, at a tiny size. No times are tested."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from benchmarks.compare_training import main, resnet_weights, task_of
from benchmarks.training_moonxi import Moonxi, loss, new_resnet, optimizer
from benchmarks.training_report import by_system, summary
from benchmarks.training_task import CIFAR10, MNIST, Split, Task
from moonxi.data import DataLoader, mnist

CHECKOUT = Path(__file__).parents[2]
TORCH = os.environ.get("MOONXI_TORCH_PYTHON")


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, CHECKOUT / "benchmarks" / "compare_training.py", *arguments],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )


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
    assert {one.name for one in out.iterdir()} == {"log.txt", "epochs.csv", "curves.svg", "curves.png", "summary.md"}
    found = epochs(out)
    assert found.keys() == {"moonxi", "moonxi compiled"}
    alike(found["moonxi"], found["moonxi compiled"])
    first, second = found["moonxi"]
    assert second[0] < first[0]
    assert "- images: 200 to learn from, 40 to be tested on\n" in (out / "summary.md").read_text(encoding="utf-8")
    assert done.stdout.startswith((out / "log.txt").read_text(encoding="utf-8"))


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


def test_the_summary_compares_to_pytorch_within_the_epochs() -> None:
    def row(system: str, epoch: int, loss: float, seconds: float) -> dict[str, object]:
        names = ("train_loss", "train_accuracy", "test_loss", "test_accuracy", "test_seconds")
        return {"system": system, "seed": 0, "epoch": epoch, **dict.fromkeys(names, loss), "train_seconds": seconds}

    rows = [
        row("moonxi", 2, 1.1, 4.0),
        row("PyTorch", 1, 2.0, 2.0),
        row("PyTorch", 2, 1.0, 1.0),
        row("moonxi", 1, 2.0, 3.0),
    ]
    assert [one["epoch"] for one in by_system(rows)["moonxi"]] == [1, 2]
    text = summary(MNIST, rows, {"date": "today"})
    assert "| moonxi | 1.1000 | 1.1000 | 1.1000 | 3.50 | 1.55 | 2.75 (1.50-4.00) | 1.0e-01 |" in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("mnist", "--epochs", "0"), "--epochs, --seeds, --threads and --limit are at least 1"),
        (("mnist", "--precision", "bf16"), "--precision bf16: the CPU computes in fp32; add --gpu"),
        (("cifar10",), "cifar10: name its folder or archive with --data"),
        (("mnist", "--torch-python", "no-such"), "--torch-python no-such: there is no such program"),
        (("mnist", "--data", "nowhere"), "compare_training: mnist: nowhere: "),
        (("mnist", "--gpu", "--data", "nowhere"), "compare_training: "),
    ],
)
def test_mistakes_are_said_in_a_line(
    arguments: tuple[str, ...], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--out", str(tmp_path)])
    assert text in f"{capsys.readouterr().err}{ended.value}"
