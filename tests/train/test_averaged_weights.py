"""A trainer that averages the weights."""

from pathlib import Path

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import Labelled
from moonxi.errors import CheckpointError
from moonxi.train import Checkpoints, Trainer
from tests.train.test_checkpoints import last, loader
from tests.train.test_trainer import CPU, Array, Model, loss, new_model, weights

EMA = optim.Ema(decay=0.9, warm_up=True)


def new_trainer() -> "Trainer[Array, Model, Labelled[Array]]":
    return Trainer(new_model(), loss, optim.Sgd(lr=0.1, momentum=0.9), key=mx.Key(2), ema=EMA)


def test_the_averages_are_those_by_hand_after_each_step() -> None:
    trainer, plain = new_trainer(), Trainer(new_model(), loss, optim.Sgd(lr=0.1, momentum=0.9), key=mx.Key(2))
    average = EMA.init(new_model())
    for batch in loader().epoch(0):
        trainer.step(batch)
        plain.step(batch)
        average = EMA.update(plain.model, average)
    assert weights(trainer.model) == weights(plain.model)
    assert weights(trainer.averaged) == weights(EMA.averaged(plain.model, average))
    assert weights(trainer.averaged) != weights(trainer.model)


def test_evaluation_predictions_and_the_saved_weights_are_of_the_averages(tmp_path: Path) -> None:
    trainer = new_trainer()
    trainer.fit(loader(), epochs=1, progress=False, save_to=tmp_path / "weights")
    of_averages = Trainer(trainer.averaged, loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    assert trainer.evaluate(loader()) == of_averages.evaluate(loader())
    [first, *_] = trainer.predict(loader(), lambda model, batch: model.forward(batch.x))
    [expected, *_] = of_averages.predict(loader(), lambda model, batch: model.forward(batch.x))
    assert np.array_equal(first.to_host(), expected.to_host())
    assert weights(nn.load(new_model(), tmp_path / "weights")) == weights(trainer.averaged)


def test_without_averages_the_averaged_model_is_the_model() -> None:
    trainer = Trainer(new_model(), loss, optim.Sgd(lr=0.1), key=mx.Key(2))
    assert trainer.averaged is trainer.model


def test_checkpoints_hold_the_averages_and_a_resumed_run_goes_on_with_them(tmp_path: Path) -> None:
    broken, resumed, whole = new_trainer(), new_trainer(), new_trainer()
    broken.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(tmp_path / "run"))
    resumed.fit(loader(), epochs=2, progress=False, checkpoints=Checkpoints(tmp_path / "run"), resume=True)
    whole.fit(loader(), epochs=2, progress=False)
    assert weights(resumed.averaged) == weights(whole.averaged)
    found = last(Checkpoints(tmp_path / "run"))
    assert weights(found.model(new_model())) == weights(whole.model)
    assert weights(found.model(new_model(), averaged=True)) == weights(whole.averaged)


def test_averages_that_were_never_made_are_refused(tmp_path: Path) -> None:
    without = Trainer(new_model(), loss, optim.Sgd(lr=0.1, momentum=0.9), key=mx.Key(2))
    without.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(tmp_path))
    with pytest.raises(CheckpointError, match=r"has no averages of the weights: the run was without ema$"):
        last(Checkpoints(tmp_path)).model(new_model(), averaged=True)
    with pytest.raises(CheckpointError, match=r"\n  ema: nothing there, .*'class': 'Ema'.* here\n"):
        new_trainer().fit(loader(), epochs=2, progress=False, checkpoints=Checkpoints(tmp_path), resume=True)


def test_averages_of_another_model_are_refused(tmp_path: Path) -> None:
    trainer = new_trainer()
    trainer.fit(loader(), epochs=1, progress=False, checkpoints=Checkpoints(tmp_path))
    other = EMA.init(nn.Linear.init(4, 2, like=CPU, key=mx.Key(0)))
    with pytest.raises(CheckpointError, match=r"not the averages of this model:\n  average/parameters/bias: float32 "):
        last(Checkpoints(tmp_path)).average(other)
