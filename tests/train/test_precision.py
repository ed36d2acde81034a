"""Weights in one element type, passes in another."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Indices, Labelled, LabelledArrays
from moonxi.errors import CheckpointError, OptionError
from moonxi.train import Batches, Checkpoints, Trainer
from tests.compiled.test_training_steps import Small, small_loss
from tests.train.test_trainer import loss

type Wide = mx.NpArray[mx.F64]
WIDE, SINGLE = mx.numpy(mx.F64), mx.numpy()


def loader() -> DataLoader[Labelled[Wide]]:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 40)
    return DataLoader(LabelledArrays(WIDE, generator.normal(size=(40, 4)), labels), batch_size=8, seed=0)


def new_model() -> nn.Linear[Wide]:
    return nn.Linear.init(4, 3, like=WIDE, key=mx.Key(1))


@pytest.mark.parametrize("compiled", [False, True])
def test_the_passes_are_in_the_other_type_and_the_update_in_that_of_the_model(compiled: bool) -> None:
    rule = optim.Sgd(lr=0.1, momentum=0.9)
    trainer = Trainer(new_model(), loss, rule, key=mx.Key(0), passes=SINGLE, compile=compiled)
    model, state = new_model(), rule.init(new_model())
    for batch in loader().epoch(0):
        low = Labelled(batch.x.cast(mx.F32), SINGLE.labels(batch.labels.to_host()))
        (value, _), gradients = mx.value_and_grad(loss, model.map(lambda x: x.cast(mx.F32)), low, mx.Eval())
        model, state = rule.update(model, gradients.map(lambda x: x.cast(mx.F64)), state)
        # Compiled steps agree with eager ones up to rounding, here that of single precision.
        assert trainer.step(batch)["loss"] == pytest.approx(value.item(), rel=1e-5 if compiled else 0.0)
    assert trainer.model.weight.dtype is mx.F64
    tolerance = 1e-5 if compiled else 0.0
    np.testing.assert_allclose(trainer.model.weight.to_host(), model.weight.to_host(), rtol=tolerance, atol=tolerance)
    single = Trainer(model.map(lambda x: x.cast(mx.F32)), loss, rule, key=mx.Key(0))
    few = [Labelled(one.x.cast(mx.F32), SINGLE.labels(one.labels.to_host())) for one in loader().epoch(0)]

    class Few:
        def __len__(self) -> int:
            return len(few)

        def epoch(self, epoch: int, /) -> Iterator[Labelled[mx.NpArray[mx.F32]]]:
            return iter(few)

    assert trainer.evaluate(loader())["loss"] == pytest.approx(single.evaluate(Few())["loss"], rel=1e-5)


def test_several_batches_are_added_up_in_the_type_of_the_model(tmp_path: Path) -> None:
    trainer = Trainer(new_model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0), passes=SINGLE)
    trainer.step(*loader().epoch(0))
    assert trainer.model.weight.dtype is mx.F64


def test_a_run_is_not_resumed_in_another_precision(tmp_path: Path) -> None:
    first = Trainer(new_model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0), passes=SINGLE)
    first.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(tmp_path))
    other = Trainer(new_model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    with pytest.raises(CheckpointError, match=r"\n  passes: float32 there, nothing here\n"):
        other.fit(loader(), epochs=2, progress=False, checkpoints=Checkpoints(tmp_path), resume=True)


def test_passes_of_another_class_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^Trainer: passes=ShapeTensor\[F32\]: the parameters are NpArray\[F64\]: "):
        Trainer(new_model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0), passes=mx.ShapeTensor(()))


@pytest.mark.parametrize("compiled", [False, True])
def test_running_statistics_move_in_the_type_of_the_model(compiled: bool) -> None:
    """In F32 a running mean of a thousand million moves by steps of 64."""
    model = Small.init(WIDE, mx.Key(0))
    start = nn.State(WIDE.full((4,), 1e9))
    model = replace(model, norm=replace(model.norm, mean=start, momentum=1e-6))
    trainer = Trainer(model, small_loss, optim.Sgd(lr=0.0), key=mx.Key(0), passes=SINGLE, compile=compiled)
    batch = Labelled(WIDE.normal((6, 1, 5, 5), mx.Key(1)), WIDE.labels(np.arange(6) % 3))
    for _ in range(4):
        trainer.step(batch)
    _, mean, _ = model.convolution.forward(batch.x).batch_norm(model.norm.weight, model.norm.bias)
    expected = 1e9 * (1 - 1e-6) ** 4 + mean.to_host() * (1 - (1 - 1e-6) ** 4)
    found = trainer.model.norm.mean.value
    assert found.dtype is mx.F64
    np.testing.assert_allclose(found.to_host(), expected, rtol=1e-12)
    assert trainer.evaluate(one_batch(batch))["loss"] > 0.0


def one_batch(batch: Labelled[Wide]) -> Batches[Labelled[Wide]]:
    return DataLoader(Few(batch), batch_size=1)


@dataclass
class Few:
    """One batch."""

    only: Labelled[Wide]

    def __len__(self) -> int:
        return 1

    def batch(self, indices: Indices, /) -> Labelled[Wide]:
        return self.only
