import re
import sys
from pathlib import Path

import pytest

import moonxi as mx
from examples.mnist_cnn import main
from moonxi import nn
from moonxi.nn.models import LeNet
from moonxi.train import History
from tests.examples.program import EXAMPLES, Ended, run

MNIST_CNN = EXAMPLES / "mnist_cnn.py"


def trained(*arguments: str | Path) -> Ended:
    """A run that ends well."""
    ended = run(MNIST_CNN, *arguments)
    assert (ended.code, ended.err) == (0, []), ended
    return ended


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_subset_that_ships_reaches_97_percent(seed: str) -> None:
    ended = trained("--seed", seed)
    assert ended.out[0] == "MNIST: 10,000 training and 2,000 test images"
    assert ended.accuracy >= 0.97


def test_a_thousand_digits_are_enough_for_85_percent(tmp_path: Path) -> None:
    weights = tmp_path / "weights.safetensors"
    ended = trained("--limit", "1000", "--epochs", "4", "--save", weights)
    assert ended.out[0] == "MNIST: 1,000 training and 2,000 test images"
    assert [line.split()[1] for line in ended.out if line.startswith("epoch")] == ["1/4", "2/4", "3/4", "4/4"]
    assert 0.85 <= ended.accuracy <= 1.0
    model = nn.load(LeNet.init(like=mx.numpy(), key=mx.Key(99)), weights)
    assert f"{sum(p.to_host().size for p in model.parameters()):,} parameters" in "\n".join(ended.out)


def test_the_same_seed_gives_the_same_bits(tmp_path: Path) -> None:
    def weights(name: str, seed: str) -> bytes:
        trained("--limit", "128", "--epochs", "1", "--seed", seed, "--save", tmp_path / name)
        return (tmp_path / name).read_bytes()

    assert weights("first", "7") == weights("second", "7")
    assert weights("first", "7") != weights("third", "8")


def test_the_head_alone_is_trained_upon_earlier_weights_and_a_run_goes_on(tmp_path: Path) -> None:
    def convolutions(path: Path) -> list[bytes]:
        model = nn.load(LeNet.init(like=mx.numpy(), key=mx.Key(99)), path)
        return [one.to_host().tobytes() for layer in (model.first, model.second) for one in layer.parameters()]

    few: tuple[str | Path, ...] = ("--limit", "128", "--no-compile")
    trained(*few, "--epochs", "1", "--save", tmp_path / "one")
    run = ("--checkpoints", tmp_path / "run", "--resume", "--start", tmp_path / "one", "--head-only")
    trained(*few, *run, "--epochs", "1")
    ended = trained(*few, *run, "--epochs", "2", "--save", tmp_path / "two")
    assert any(line.startswith("resumed from ") for line in ended.out)
    assert convolutions(tmp_path / "one") == convolutions(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() != (tmp_path / "two").read_bytes()


def test_more_images_than_there_are_are_refused_in_one_line() -> None:
    ended = run(MNIST_CNN, "--limit", "10001")
    assert (ended.code, ended.out) == (1, [])
    assert ended.err == ["split: 10001 of 10000 samples: there are not as many"]


def test_an_accuracy_below_the_target_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["mnist_cnn.py"])
    monkeypatch.setattr(mx.Trainer, "fit", lambda *_, **__: History())
    with pytest.raises(SystemExit, match=r"^expected at least 0\.97$"):
        main()
    assert re.search(r"^test accuracy: 0\.[01]\d+$", capsys.readouterr().out, re.MULTILINE)
