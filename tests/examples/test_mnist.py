import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from examples.mnist import Mlp, main
from moonxi import nn
from moonxi.data import DataLoader, mnist, read_idx, write_idx
from moonxi.train import History
from tests.examples.program import AS_AT_A_TERMINAL, EXAMPLES, Ended, environment, run

MNIST = EXAMPLES / "mnist.py"


def trained(*arguments: str | Path, threads: int = 1) -> Ended:
    """A run that ends well."""
    ended = run(MNIST, *arguments, threads=threads)
    assert (ended.code, ended.err) == (0, []), ended
    return ended


def accuracy_of(weights: Path) -> float:
    """Of a saved network, on the test images that ship."""
    cpu = mx.numpy()
    model = nn.load(Mlp.init(cpu, mx.Key(99)), weights)
    digits = mnist(cpu).test
    right = 0
    for batch in DataLoader(digits, batch_size=1000).epoch(0):
        scores = model.forward(batch.x).value.to_host()
        right += int((scores.argmax(axis=1) == batch.labels.to_host()).sum())
    return right / len(digits)


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A folder with 320 training and 100 test images."""
    folder = tmp_path / "few"
    folder.mkdir()
    with as_file(files("moonxi.data") / "mnist_subset") as subset:
        for path in subset.iterdir():
            write_idx(
                folder / path.name, read_idx(path)[: 320 if path.name.startswith("train") else 100], compress=True
            )
    return folder


@pytest.fixture
def full() -> Path:
    """The folder with the four files of MNIST."""
    if "MOONXI_DATA" not in os.environ:
        pytest.skip("the full MNIST is not at hand: set MOONXI_DATA to a folder with the four files in mnist/")
    return Path(os.environ["MOONXI_DATA"]) / "mnist"


@pytest.mark.parametrize("seed", ["0", *(pytest.param(seed, marks=pytest.mark.slow) for seed in "12")])
def test_the_subset_that_ships_reaches_94_percent(seed: str, tmp_path: Path) -> None:
    weights = tmp_path / "weights.safetensors"
    ended = trained("--seed", seed, "--save", weights)
    assert ended.accuracy >= 0.94
    assert ended.accuracy == pytest.approx(accuracy_of(weights))
    assert ended.out[0] == "MNIST: 10,000 training and 2,000 test images"
    assert ended.out[1].startswith(f"seed {seed}, 1 thread")


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_full_set_reaches_97_4_percent(seed: str, full: Path) -> None:
    ended = trained("--data", full, "--seed", seed)
    assert ended.out[0] == "MNIST: 60,000 training and 10,000 test images"
    assert ended.accuracy >= 0.974


def test_the_same_seed_gives_the_same_bits(few: Path, tmp_path: Path) -> None:
    def weights(name: str, seed: str) -> bytes:
        trained("--data", few, "--epochs", "3", "--seed", seed, "--save", tmp_path / name)
        return (tmp_path / name).read_bytes()

    assert weights("first", "7") == weights("second", "7")
    assert weights("first", "7") != weights("third", "8")


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_and_thread_count_give_the_same_bits(threads: int, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    shown = [trained("--epochs", "1", "--save", path, threads=threads).out[1] for path in (first, second)]
    assert first.read_bytes() == second.read_bytes()
    assert shown[0] == shown[1]
    assert f" {threads} thread" in shown[0]


def test_every_epoch_has_a_line_with_loss_accuracy_and_speed(few: Path) -> None:
    ended = trained("--data", few, "--epochs", "2")
    number = r"\d\.\d{4}"
    for epoch, line in enumerate(ended.out[-3:-1], 1):
        assert re.fullmatch(
            rf"epoch {epoch}/2  loss {number}  accuracy {number}  \|  test loss {number}  accuracy {number}  \|  "
            r"[\d,]+ samples/s  \d+\.\d s",
            line,
        )
    assert f"accuracy {ended.accuracy:.4f}" in ended.out[-2].partition("test")[2]


def test_the_network_is_described_before_it_is_trained(few: Path) -> None:
    out = "\n".join(trained("--data", few, "--epochs", "1").out)
    for words in "(784, 128)", "(128, 64)", "(64, 10)", "109,386 parameters":
        assert words in out


def test_an_accuracy_below_the_target_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["mnist.py"])
    monkeypatch.setattr(mx.Trainer, "fit", lambda *_, **__: History())
    with pytest.raises(SystemExit, match=r"^expected at least 0\.94$"):
        main()
    assert re.search(r"^test accuracy: 0\.[01]\d+$", capsys.readouterr().out, re.MULTILINE)


def test_a_run_goes_on_from_its_checkpoints_with_the_same_bits(few: Path, tmp_path: Path) -> None:
    def weights(name: str, epochs: int) -> bytes:
        folder, file = tmp_path / name, tmp_path / f"{name}.safetensors"
        trained("--data", few, "--epochs", str(epochs), "--save", file, "--checkpoints", folder, "--resume")
        return file.read_bytes()

    weights("broken", 1)
    assert weights("broken", 2) == weights("whole", 2)


def test_to_resume_without_a_folder_is_told_in_one_line() -> None:
    ended = run(MNIST, "--resume")
    assert (ended.code, ended.out) == (2, [])
    assert ended.err[-1].endswith("error: --resume: name the folder of the run with --checkpoints DIR")


@pytest.mark.slow
def test_ctrl_c_ends_a_run_cleanly_and_saves(tmp_path: Path) -> None:
    weights = tmp_path / "weights.safetensors"
    program = subprocess.Popen(
        [sys.executable, "-c", AS_AT_A_TERMINAL, MNIST, "--epochs", "1000", "--save", weights],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        assert any(line.startswith("epoch 1/1000") for line in program.stdout)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    assert (program.returncode, err) == (0, "")
    ended = Ended(program.returncode, out.splitlines(), [])
    assert (step := re.search(r"^interrupted after step (\d+)$", out, re.MULTILINE)) is not None
    assert int(step[1]) >= 157  # of one epoch
    assert f"weights saved to {weights}" in ended.out
    assert ended.accuracy == pytest.approx(accuracy_of(weights))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def overwrite(path: Path) -> None:
    path.write_text("<html>404 Not Found</html>")


def remove(path: Path) -> None:
    path.unlink()


def relabel(path: Path) -> None:
    write_idx(path, np.full(320, 11, np.uint8))


@pytest.mark.parametrize(
    ("damage", "name", "words"),
    [
        (cut, "train-images-idx3-ubyte.gz", "expected a whole gzip file, found one cut short"),
        (cut, "t10k-labels-idx1-ubyte.gz", "expected a whole gzip file, found one cut short"),
        (overwrite, "t10k-images-idx3-ubyte.gz", "found the bytes 3c 68 74 6d"),
        (remove, "train-labels-idx1-ubyte.gz", "expected a file train-labels-idx1-ubyte"),
        (relabel, "train-labels-idx1-ubyte.gz", "expected labels from 0 to 9, found 11 at 0"),
    ],
)
def test_a_damaged_data_folder_is_told_in_one_line(
    few: Path, damage: Callable[[Path], None], name: str, words: str
) -> None:
    damage(few / name)
    ended = run(MNIST, "--data", few)
    assert (ended.code, ended.out) == (1, [])
    [line] = ended.err
    assert words in line
    assert str(few) in line


def test_a_folder_that_does_not_exist_is_told_in_one_line(tmp_path: Path) -> None:
    ended = run(MNIST, "--data", tmp_path / "nothing")
    assert (ended.code, ended.out) == (1, [])
    [line] = ended.err
    assert f"{tmp_path / 'nothing'}: expected a file train-images-idx3-ubyte" in line
    assert "no such folder" in line


def test_the_files_may_be_plain(few: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for path in few.iterdir():
        write_idx(plain / path.stem, read_idx(path))
    packed = trained("--data", few, "--epochs", "1", "--save", tmp_path / "packed")
    assert trained("--data", plain, "--epochs", "1", "--save", tmp_path / "unpacked").accuracy == packed.accuracy
    assert (tmp_path / "packed").read_bytes() == (tmp_path / "unpacked").read_bytes()
