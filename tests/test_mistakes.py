"""What people and a tester's programs did by mistake, and what they are told."""

from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.errors import LabelError, ModuleError, OperandError, OptionError
from moonxi.losses import cross_entropy
from moonxi.nn.models import Mlp

like = mx.numpy()


def model() -> Mlp[mx.NpArray[mx.F32]]:
    return Mlp.init(4, 3, like=like, key=mx.Key(0))


def data() -> LabelledArrays[mx.NpArray[mx.F32]]:
    return LabelledArrays(like, np.ones((6, 4)), np.arange(6) % 3)


def test_a_named_value_does_not_hide_the_loss() -> None:
    def loss(model: Any, batch: Any, mode: Any) -> Any:
        value = cross_entropy(model.forward(batch.x), batch.labels)
        return value * float("nan"), {"loss": value}

    trainer: Any = mx.Trainer
    with pytest.raises(OptionError, match="the named value 'loss' would hide the loss itself"):
        trainer(model(), loss, mx.Sgd(lr=0.1), key=mx.Key(0)).step(next(DataLoader(data(), batch_size=2).epoch(0)))


def test_an_exhausted_iterator_in_a_data_set_does_not_end_the_epoch_silently() -> None:
    class Once:
        def __init__(self) -> None:
            self.left = iter([Labelled(like.ones((1, 4)), like.labels(np.zeros(1, np.int64)))])

        def __len__(self) -> int:
            return 3

        def batch(self, indices: object, /) -> Labelled[mx.NpArray[mx.F32]]:
            return next(self.left)

    with pytest.raises(RuntimeError):
        list(DataLoader(Once(), batch_size=1).epoch(0))


def test_labels_that_int64_does_not_hold_are_refused() -> None:
    with pytest.raises(LabelError, match="18446744073709551615 is larger than int64 holds"):
        like.labels(np.array([2**64 - 1], np.uint64))


@pytest.mark.parametrize("rate", ["0.1", None, np.float32(0.1)])
def test_a_learning_rate_is_a_number_or_a_schedule(rate: Any) -> None:
    with pytest.raises(OptionError, match="expected a Python number or a schedule of the step"):
        optim.Sgd(lr=rate)


@pytest.mark.parametrize("call", [lambda x: x[0.5:], lambda x: x.split((1.5, 1.5), axis=1), lambda x: x.topk(1.0, 1)])
def test_a_size_that_is_no_whole_number_is_named(call: Any) -> None:
    with pytest.raises((OperandError, TypeError)):
        call(like.ones((2, 3)))


def test_a_model_is_not_called() -> None:
    network: Any = model()
    with pytest.raises(ModuleError, match=r"Mlp\.forward\(\.\.\.\)"):
        network(like.ones((2, 4)))


def test_a_batch_of_arrays_of_numpy_is_described() -> None:
    layer: Any = nn.Linear.init(4, 3, like=like, key=mx.Key(0))
    make: Any = Labelled
    with pytest.raises(OperandError, match="got Labelled"):
        layer.forward(make(np.ones((2, 4)), like.labels(np.zeros(2, np.int64))))
