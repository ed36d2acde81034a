"""The trainer: what it averages, guards, interrupts and repeats."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.errors import CheckpointError, NonFiniteError, OptionError, ShapeError
from moonxi.losses import Logits, cross_entropy

type Array = mx.NpArray[mx.F32]
type Model = nn.Linear[Array]

CPU = mx.numpy()


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    logits = Logits(model.forward(batch.x))
    right = logits.predicted().equal(batch.labels)
    return cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


def dataset(samples: int = 50) -> LabelledArrays[Array]:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, samples)
    x = generator.normal(size=(samples, 4)) + np.eye(3, 4)[labels] * 2.0
    return LabelledArrays(CPU, x, labels)


def new_model() -> Model:
    return nn.Linear.init(4, 3, like=CPU, key=mx.Key(1))


def new_trainer(lr: float = 0.1) -> "mx.Trainer[Array, Model, Labelled[Array]]":
    return mx.Trainer(new_model(), loss, optim.Sgd(lr=lr, momentum=0.9), key=mx.Key(2))


def weights(model: Model) -> bytes:
    return b"".join(parameter.to_host().tobytes() for parameter in model.parameters())


def test_training_lowers_the_loss_and_counts_the_steps() -> None:
    trainer = new_trainer()
    data = DataLoader(dataset(), batch_size=8, seed=0)
    history = trainer.fit(data, epochs=5, test=data, progress=False)
    assert trainer.steps == 5 * 7
    assert [record.epoch for record in history.epochs] == [0, 1, 2, 3, 4]
    assert history.epochs[-1].train["loss"] < history.epochs[0].train["loss"] * 0.8
    assert history.epochs[-1].samples == 50
    assert history.epochs[-1].test["accuracy"] > 0.8


def test_averages_are_exact_where_the_last_batch_is_smaller() -> None:
    trainer = new_trainer()
    one = trainer.evaluate(DataLoader(dataset(), batch_size=50))
    uneven = trainer.evaluate(DataLoader(dataset(), batch_size=7))
    assert uneven == pytest.approx(one, rel=1e-6)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others() -> None:
    def run(seed: int) -> bytes:
        trainer = new_trainer()
        trainer.fit(DataLoader(dataset(), batch_size=8, seed=seed), epochs=2, progress=False)
        return weights(trainer.model)

    assert run(0) == run(0)
    assert run(0) != run(1)


def test_a_second_fit_goes_on_with_the_next_epoch() -> None:
    data = DataLoader(dataset(), batch_size=8, seed=0)
    at_once, in_parts = new_trainer(), new_trainer()
    at_once.fit(data, epochs=3, progress=False)
    in_parts.fit(data, epochs=1, progress=False)
    second = in_parts.fit(data, epochs=2, progress=False)
    assert [record.epoch for record in second.epochs] == [1, 2]
    assert weights(at_once.model) == weights(in_parts.model)


class Interrupted:
    """Batches of which the third ends in Ctrl-C."""

    def __init__(self, data: "DataLoader[Labelled[Array]]") -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def epoch(self, epoch: int, /) -> Iterator[Labelled[Array]]:
        for number, batch in enumerate(self._data.epoch(epoch)):
            if number == 2:
                raise KeyboardInterrupt
            yield batch


def test_an_interrupt_ends_the_run_after_a_whole_step_and_saves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trainer = new_trainer()
    path = tmp_path / "weights.safetensors"
    history = trainer.fit(Interrupted(DataLoader(dataset(), batch_size=8)), epochs=3, save_to=path)
    assert history.interrupted
    assert history.epochs == []
    assert trainer.steps == 2
    assert weights(nn.load(new_model(), path)) == weights(trainer.model)
    assert capsys.readouterr().out == f"\ninterrupted after step 2\nweights saved to {path}\n"


def test_a_loss_that_is_not_finite_stops_and_names_the_step_and_the_parameter() -> None:
    trainer = new_trainer()
    good = next(iter(DataLoader(dataset(), batch_size=8).epoch(0)))
    trainer.step(good)
    before = weights(trainer.model)
    bad = Labelled(CPU.full((8, 4), float("nan")), good.labels)
    with pytest.raises(
        NonFiniteError,
        match=r"^step 1: the loss is nan: all parameters were finite; the first gradient that "
        r"is not is that of weight; look at the data, and at the learning rate\. "
        r"The trainer's model is that before the step$",
    ):
        trainer.step(bad)
    assert weights(trainer.model) == before
    assert trainer.steps == 1


def test_a_parameter_that_overflowed_is_named() -> None:
    trainer = new_trainer(lr=1e40)
    batch = next(iter(DataLoader(dataset(), batch_size=8).epoch(0)))
    with np.errstate(all="ignore"):
        trainer.step(batch)
        with pytest.raises(NonFiniteError, match=r"^step 1: the loss is nan: parameter weight was not finite before"):
            trainer.step(batch)


def test_named_values_beside_a_loss_are_scalars() -> None:
    def wrong[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
        logits = Logits(model.forward(batch.x))
        return cross_entropy(logits, batch.labels), {"scores": logits.value}

    trainer = mx.Trainer(new_model(), wrong, optim.Sgd(lr=0.1), key=mx.Key(0))
    with pytest.raises(ShapeError, match=r"^loss \(scores\): \(8, 3\): the named values beside a loss are scalars"):
        trainer.step(next(iter(DataLoader(dataset(), batch_size=8).epoch(0))))


def test_a_run_that_is_not_on_a_terminal_prints_one_line_an_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    data = DataLoader(dataset(), batch_size=8, seed=0)
    new_trainer().fit(data, epochs=2, test=data)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("epoch 1/2  loss ")
    assert "  |  test loss " in lines[1]
    assert "samples/s" in lines[1]


def test_two_trainers_do_not_disturb_each_other() -> None:
    data = DataLoader(dataset(), batch_size=8, seed=0)
    alone, beside, other = new_trainer(), new_trainer(), new_trainer(lr=0.01)
    batches = list(data.epoch(0))
    for batch in batches:
        alone.step(batch)
    for batch in batches:
        beside.step(batch)
        other.step(batch)
    assert weights(alone.model) == weights(beside.model)
    assert weights(other.model) != weights(alone.model)


def test_a_place_that_cannot_be_written_is_refused_before_the_first_step(tmp_path: Path) -> None:
    trainer = new_trainer()
    data = DataLoader(dataset(), batch_size=8)
    with pytest.raises(CheckpointError, match=r"save: .*/nowhere/w: cannot be written: No such file or directory"):
        trainer.fit(data, epochs=1, save_to=tmp_path / "nowhere" / "w")
    with pytest.raises(CheckpointError, match=r"cannot be written: Is a directory"):
        trainer.fit(data, epochs=1, save_to=tmp_path)
    assert trainer.steps == 0
    assert list(tmp_path.iterdir()) == []


def test_a_negative_number_of_epochs_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^fit: epochs=-3: must be at least 0$"):
        new_trainer().fit(DataLoader(dataset(), batch_size=8), epochs=-3)


def test_no_epochs_are_a_run_that_does_nothing_but_save(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trainer, file = new_trainer(), tmp_path / "w.safetensors"
    data = DataLoader(dataset(), batch_size=8)
    history = trainer.fit(data, epochs=0, test=data, save_to=file)
    assert (history.epochs, history.interrupted, trainer.steps) == ([], False, 0)
    assert weights(trainer.model) == weights(new_model()) == weights(nn.load(new_model(), file))
    assert capsys.readouterr().out == f"weights saved to {file}\n"
