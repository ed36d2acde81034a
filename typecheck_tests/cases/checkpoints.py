"""Checkpoints, callbacks and predictions, given what belongs to another model or backend."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import override

import numpy as np

import moonxi as mx
from moonxi import F32, GpuTensor, NpArray, nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.losses import Logits, cross_entropy
from moonxi.train import Callback, Checkpoint, Checkpoints, EpochRecord, Run, Trainer
from moonxi.train.place import Place

type Host = NpArray[F32]
type Device = GpuTensor[F32]


def loss[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(Logits(model.forward(batch.x)), batch.labels)


def scores[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T]) -> Logits[T]:
    return Logits(model.forward(batch.x))


def model() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def loader() -> DataLoader[Labelled[Host]]:
    return DataLoader(LabelledArrays(mx.numpy(), np.ones((6, 4)), np.arange(6) % 3), batch_size=3)


def saved(folder: str) -> Checkpoint:
    state = optim.Sgd(lr=0.1).init(model())
    return Checkpoints(folder).save(model(), state, place=Place(), settings={}, metrics={})


# -- checkpoints -------------------------------------------------------------------------------------------------


def wrong_checkpoint_of_another_class(found: Checkpoint) -> nn.Sequential[Host]:
    return found.model(model())  # E: [arg-type]


def right_checkpoint_of_another_class() -> nn.Linear[Host]:
    with TemporaryDirectory() as folder:
        return saved(folder).model(model())


def wrong_checkpoint_read_onto_the_device(found: Checkpoint) -> nn.Linear[Device]:
    return found.model(model())  # E: [arg-type]


def right_checkpoint_read_onto_the_device() -> nn.Linear[Host]:
    with TemporaryDirectory() as folder:
        return saved(folder).model(model().map(mx.constant)).map(lambda x: x.value)


def wrong_optimizer_of_another_model(found: Checkpoint, other: nn.Sequential[Host]) -> None:
    found.restored(model(), optim.Sgd(lr=0.1).init(other))  # E: [misc] "M"  # E: [tensor-unused] dropped


def right_optimizer_of_another_model() -> None:
    with TemporaryDirectory() as folder:
        _ = saved(folder).restored(model(), optim.Sgd(lr=0.1).init(model()))


def wrong_checkpoint_that_may_not_be_there(checkpoints: Checkpoints) -> int:
    return checkpoints.last().step  # E: [union-attr]


def right_checkpoint_that_may_not_be_there() -> int:
    with TemporaryDirectory() as folder:
        found = Checkpoints(folder).last()
        return 0 if found is None else found.step


def wrong_folder_for_checkpoints(folder: Path) -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(loader(), epochs=1, checkpoints=folder)  # E: [arg-type]


def right_folder_for_checkpoints() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    with TemporaryDirectory() as folder:
        trainer.fit(loader(), epochs=1, checkpoints=Checkpoints(folder), progress=False)


# -- callbacks ---------------------------------------------------------------------------------------------------


class Bias(Callback[nn.Linear[Host]]):
    @override
    def on_epoch(self, run: Run[nn.Linear[Host]], record: EpochRecord, /) -> None:
        assert run.model.bias is not None
        assert run.model.bias.shape == (3,)


class OfAnother(Callback[nn.Sequential[Host]]):
    pass


class Steps(Callback[object]):
    @override
    def on_step(self, run: Run[object], values: Mapping[str, float], /) -> None:
        assert run.steps > 0
        assert values["loss"] > 0.0


def wrong_callback_for_another_model() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(loader(), epochs=1, callbacks=[OfAnother()])  # E: [list-item]


def right_callback_for_another_model() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(loader(), epochs=1, callbacks=[Bias(), Steps()], progress=False)


def after(record: EpochRecord) -> None:
    assert record.samples == 6


def wrong_function_as_callback() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(loader(), epochs=1, callbacks=[after])  # E: [list-item]


def right_function_as_callback() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.fit(loader(), epochs=1, after_epoch=after, progress=False)


# -- steps and predictions ---------------------------------------------------------------------------------------


def wrong_data_for_predictions(
    trainer: "Trainer[Host, nn.Linear[Host], Labelled[Host]]", data: DataLoader[Labelled[Device]]
) -> Iterator[Logits[Device]]:
    return trainer.predict(data, scores)  # E: [arg-type]  # E: [tensor-mix] GpuTensor[F32] (batch)


def right_data_for_predictions() -> Iterator[Logits[Host]]:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    return trainer.predict(loader(), scores)


def wrong_second_batch_of_a_step(one: Labelled[Host], other: Labelled[Device]) -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.step(one, other)  # E: [arg-type]


def right_second_batch_of_a_step() -> None:
    trainer = mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))
    trainer.step(*loader().epoch(0))
