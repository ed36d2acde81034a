import csv
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from examples.cifar10 import COLUMNS, OneCycle, SmallResNet, main, modern
from moonxi import nn
from moonxi.data import Labelled, cifar10
from tests.data.cifar_files import archive, binary_files, python_files, write
from tests.examples.program import AS_AT_A_TERMINAL, EXAMPLES, Ended, environment, run

CIFAR10 = EXAMPLES / "cifar10.py"
PNG = b"\x89PNG\r\n\x1a\n"

type Host = mx.NpArray[mx.F32]


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A folder with 15 training and 3 test images."""
    write(tmp_path / "few", binary_files())
    return tmp_path / "few"


def trained(*arguments: str | Path) -> Ended:
    """A run that ends well."""
    ended = run(CIFAR10, *arguments)
    assert (ended.code, ended.err) == (0, []), ended
    return ended


def log(out: Path) -> list[dict[str, float]]:
    """The lines of a log."""
    with (out / "log.csv").open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        lines = [{name: float(value) for name, value in line.items()} for line in reader]
        assert tuple(reader.fieldnames or ()) == COLUMNS
    return lines


def here(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    """Run the example within this process."""
    monkeypatch.setattr(sys, "argv", ["cifar10.py", *map(str, arguments)])
    main()


def ctrl_c_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let Ctrl-C be pressed in this step, counted from 0."""

    def interrupted(self: "mx.Trainer[Host, SmallResNet[Host], Labelled[Host]]", batch: Labelled[Host]) -> object:
        if self.steps == step:
            raise KeyboardInterrupt
        return whole(self, batch)

    whole = mx.Trainer.step
    monkeypatch.setattr(mx.Trainer, "step", interrupted)


def test_resnet18_is_trained_as_the_original_unless_asked_otherwise(few: Path, tmp_path: Path) -> None:
    ended = trained("--data", few, "--epochs", "1", "--out", tmp_path / "out")
    assert ended.out[0] == "CIFAR-10: 15 training and 3 test images"
    assert ended.out[1].startswith("seed 0, 1 thread")
    assert any(line.startswith("stem.conv") and "(64, 3, 7, 7)" in line for line in ended.out)
    assert any(line.startswith("11,186,442 parameters") for line in ended.out)
    [line] = log(tmp_path / "out")
    assert line["epoch"] == 1
    assert line["lr"] == pytest.approx(0.01)
    assert 0.0 < line["loss"] < 10.0
    assert line["seconds"] > 0.0
    assert line["train_accuracy"] * 15 == pytest.approx(round(line["train_accuracy"] * 15), abs=1e-4)
    assert line["test_accuracy"] == pytest.approx(ended.accuracy, abs=1e-4)


def test_the_modern_recipe_gives_resnet18_the_stem_for_small_images(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here(monkeypatch, "--data", few, "--recipe", "modern", "--epochs", "0", "--out", tmp_path / "out")
    out = capsys.readouterr().out
    assert re.search(r"^stem\.conv .*\(64, 3, 3, 3\)", out, re.MULTILINE)
    assert re.search(r"^test accuracy: [01]\.\d{4}$", out, re.MULTILINE)
    assert log(tmp_path / "out") == []


@pytest.mark.parametrize(("recipe", "rates"), [("original", [0.01, 0.01, 0.01]), ("modern", [0.0833333, 0.0416667, 0])])
def test_every_epoch_has_a_line_with_the_learning_rate_of_its_last_step(
    recipe: str, rates: list[float], few: Path, tmp_path: Path
) -> None:
    out = tmp_path / "a new" / "folder"
    ended = trained("--data", few, "--model", "small", "--recipe", recipe, "--epochs", "3", "--out", out)
    lines = log(out)
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert [line["lr"] for line in lines] == pytest.approx(rates, abs=1e-6)
    assert lines[-1]["test_accuracy"] == pytest.approx(ended.accuracy, abs=1e-4)
    assert (out / "curve.png").read_bytes().startswith(PNG)
    assert ended.out[-2] == f"curve drawn to {out / 'curve.png'}"


def test_the_small_network_begins_to_know_fifteen_images_by_heart(few: Path, tmp_path: Path) -> None:
    trained("--data", few, "--model", "small", "--epochs", "20", "--out", tmp_path)
    lines = log(tmp_path)
    assert lines[-1]["loss"] < lines[0]["loss"] / 2
    assert lines[-1]["train_accuracy"] >= 0.7 > lines[0]["train_accuracy"]


def test_the_same_seed_gives_the_same_log_and_another_seed_another(few: Path, tmp_path: Path) -> None:
    def numbers(name: str, seed: str) -> list[dict[str, float]]:
        arguments = ("--model", "small", "--recipe", "modern", "--epochs", "2", "--seed", seed)
        trained("--data", few, *arguments, "--out", tmp_path / name)
        return [line | {"seconds": 0.0} for line in log(tmp_path / name)]

    assert numbers("first", "7") == numbers("second", "7")
    assert numbers("first", "7") != numbers("third", "8")


def test_a_limit_takes_as_many_training_images_and_all_test_images(few: Path, tmp_path: Path) -> None:
    ended = trained("--data", few, "--model", "small", "--epochs", "1", "--limit", "5", "--out", tmp_path)
    assert ended.out[0] == "CIFAR-10: 5 training and 3 test images"
    refused = run(CIFAR10, "--data", few, "--limit", "16", "--out", tmp_path)
    assert (refused.code, refused.out) == (1, [])
    assert refused.err == ["split: 16 of 15 samples: there are not as many"]


@pytest.mark.parametrize("form", ["python", "binary archive"])
def test_the_data_may_be_in_other_forms(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    if form == "python":
        write(data, python_files())
    else:
        data.write_bytes(archive("binary"))
    here(monkeypatch, "--data", data, "--model", "small", "--epochs", "1", "--out", tmp_path / "out")
    assert capsys.readouterr().out.startswith("CIFAR-10: 15 training and 3 test images\n")
    assert len(log(tmp_path / "out")) == 1


def test_ctrl_c_keeps_the_epochs_that_are_whole_and_judges_the_last_step(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ctrl_c_at(monkeypatch, 2)
    here(monkeypatch, "--data", few, "--model", "small", "--epochs", "9", "--out", tmp_path)
    assert [line["epoch"] for line in log(tmp_path)] == [1, 2]
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG)
    interrupted, drawn, accuracy = capsys.readouterr().out.splitlines()[-3:]
    assert interrupted == "interrupted after step 2"
    assert drawn.startswith("curve drawn to ")
    assert re.fullmatch(r"test accuracy: [01]\.\d{4}", accuracy)


def test_ctrl_c_in_the_first_epoch_leaves_a_log_without_lines_and_no_curve(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ctrl_c_at(monkeypatch, 0)
    here(monkeypatch, "--data", few, "--model", "small", "--out", tmp_path)
    assert log(tmp_path) == []
    assert not (tmp_path / "curve.png").exists()
    assert "interrupted after step 0" in capsys.readouterr().out


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_ends_a_run_cleanly(few: Path, tmp_path: Path) -> None:
    arguments: list[str | Path] = ["--data", few, "--model", "small", "--epochs", "10000", "--out", tmp_path]
    program = subprocess.Popen(
        [sys.executable, "-c", AS_AT_A_TERMINAL, CIFAR10, *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        assert any(line.startswith("epoch 3/10000") for line in program.stdout)
        assert len(log(tmp_path)) >= 2  # written while the run goes on
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    assert (program.returncode, err) == (0, "")
    assert re.search(r"^interrupted after step \d+$", out, re.MULTILINE)
    assert re.fullmatch(r"test accuracy: [01]\.\d{4}", out.splitlines()[-1])
    assert [line["epoch"] for line in log(tmp_path)] == list(range(1, len(log(tmp_path)) + 1))


def test_without_matplotlib_a_line_says_what_is_missing(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    here(monkeypatch, "--data", few, "--model", "small", "--epochs", "1", "--out", tmp_path)
    said = "draw_curves: the package matplotlib, which draws, is not installed: pip install 'moonxi[plot]'"
    assert capsys.readouterr().out.splitlines()[-2] == said
    assert len(log(tmp_path)) == 1


def test_a_run_goes_on_from_its_checkpoints_with_the_same_log(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_to(epochs: int, out: Path) -> str:
        arguments = ("--data", few, "--model", "small", "--ema", "0.9", "--epochs", str(epochs), "--out", out)
        here(monkeypatch, *arguments, "--no-compile", "--checkpoints", out / "run", "--resume")
        return capsys.readouterr().out

    run_to(1, tmp_path / "broken")
    assert "resumed from " in run_to(3, tmp_path / "broken")
    assert "resumed from " not in run_to(3, tmp_path / "whole")
    broken, whole = log(tmp_path / "broken"), log(tmp_path / "whole")
    assert [line | {"seconds": 0.0} for line in broken] == [line | {"seconds": 0.0} for line in whole]


def test_without_data_the_options_that_name_it_are_told() -> None:
    ended = run(CIFAR10)
    assert (ended.code, ended.out) == (2, [])
    assert ended.err[-1].endswith("name the folder or archive of CIFAR-10 with --data, or give --download")


def test_a_damaged_data_folder_is_told_in_one_line(few: Path, tmp_path: Path) -> None:
    file = few / "data_batch_3.bin"
    file.write_bytes(file.read_bytes()[:-10])
    ended = run(CIFAR10, "--data", few, "--out", tmp_path / "out")
    assert (ended.code, ended.out) == (1, [])
    [line] = ended.err
    assert line.startswith(f"cifar10: {file}: expected one or more records of 3073 bytes")
    assert not (tmp_path / "out").exists()


@given(st.integers(5, 500), st.floats(0.01, 1.0))
def test_one_cycle_goes_up_in_a_fifth_of_the_steps_and_then_down_to_nothing(steps: int, peak: float) -> None:
    schedule = OneCycle(peak, steps)
    rates = [schedule(mx.numpy(mx.F64).full((), step)).item() for step in range(steps)]
    top = int(np.argmax(rates))
    assert abs(top + 1 - steps / 5) < 1
    assert rates == pytest.approx([*np.sort(rates[: top + 1]), *np.sort(rates[top + 1 :])[::-1]])
    assert peak * (1 - 6.25 / steps) <= max(rates) <= peak * (1 + 1e-12)
    assert rates[-1] == pytest.approx(0.0, abs=1e-12)


def test_the_modern_recipe_changes_training_images_each_epoch_and_test_images_never(few: Path) -> None:
    recipe = modern(cifar10(mx.numpy(), folder=few), 2, 0)
    first, second = (next(recipe.train.epoch(epoch)).x.to_host() for epoch in (0, 1))
    brightness, other = (np.sort(one.sum((1, 2, 3))) for one in (first, second))
    assert not np.allclose(brightness, other)
    plain = cifar10(mx.numpy(), folder=few).test.batch(np.arange(3)).x.to_host()
    [batch] = recipe.test.epoch(0)
    mean, std = np.array([0.4914, 0.4822, 0.4465]), np.array([0.2470, 0.2435, 0.2616])
    expected = (plain - mean.reshape(3, 1, 1)) / std.reshape(3, 1, 1)
    np.testing.assert_allclose(batch.x.to_host(), expected, rtol=1e-5, atol=1e-5)


def test_the_small_network_has_eight_layers_and_gives_ten_scores() -> None:
    model = SmallResNet.init(like=mx.numpy(), key=mx.Key(0))
    weights = [name for name, p in model.named_parameters().items() if len(p.shape) > 1 and "shortcut" not in name]
    assert len(weights) == 8
    assert model.forward(mx.numpy().zeros((2, 3, 32, 32)), nn.Eval()).value.shape == (2, 10)
