"""A program that trains a small convolutional network with checkpoints, and goes on where it was when it was killed.

    python tests/train/resumed_run.py FOLDER RESULT [KILL]

Everything that a checkpoint must hold is in use: momentum, a schedule, running statistics, averaged weights, dropout,
accumulation, shuffled and uneven batches. RESULT gets the weights, the optimizer's memory and the records of the epochs
at the end. With KILL = ``OPERATION NUMBER`` the process kills itself, by SIGKILL, before that call of that operation:
``os.write``, ``os.fsync``, ``os.replace``, ``unlink`` or ``step``.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, LabelledArrays
from moonxi.losses import Logits, cross_entropy
from moonxi.train import Checkpoints, CsvLog, Trainer

CPU = mx.numpy()
EPOCHS = 3


@dataclass(frozen=True)
class Net[T: mx.ImageModelTensor](nn.Module[T]):
    conv: nn.Conv2d[T]
    norm: nn.BatchNorm2d[T]
    drop: nn.Dropout
    out: nn.Linear[T]

    @classmethod
    def init(cls, like: T, key: mx.Key) -> "Net[T]":
        conv, out = key.split()
        return cls(
            nn.Conv2d.init(2, 5, 3, like=like, key=conv, padding=1),
            nn.BatchNorm2d.init(5, like=like),
            nn.Dropout(0.25),
            nn.Linear.init(5 * 6 * 6, 3, like=like, key=out),
        )

    def forward(self, x: T, mode: nn.Mode) -> Logits[T]:
        h = self.norm.forward(self.conv.forward(x), mode).relu()
        h = self.drop.forward(h.reshape((x.shape[0], 5 * 6 * 6)), mode)
        return Logits(self.out.forward(h))


type Host = mx.NpArray[mx.F32]


def loss[T: mx.ImageModelTensor](model: Net[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    logits = model.forward(batch.x, mode)
    right = logits.predicted().equal(batch.labels)
    return cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


def dataset(samples: int = 50) -> LabelledArrays[Host]:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(samples, 2, 6, 6)).astype(np.float32)
    return LabelledArrays(CPU, x, generator.integers(0, 3, samples))


def loader() -> DataLoader[Labelled[Host]]:
    return DataLoader(dataset(), batch_size=4, seed=1)


def new_trainer() -> "Trainer[Host, Net[Host], Labelled[Host]]":
    model = Net.init(CPU, mx.Key(5))
    optimizer = optim.Sgd(lr=optim.step_decay(0.05, every=optim.Steps(5), factor=0.5), momentum=0.9, weight_decay=1e-3)
    return Trainer(model, loss, optimizer, key=mx.Key(6), ema=optim.Ema(decay=0.9))


def outcome(trainer: "Trainer[Host, Net[Host], Labelled[Host]]", epochs: list[dict[str, object]]) -> str:
    """All that must be the same to the bit."""
    parameters, states = trainer.model.named_tensors()
    memory = {f"{slot}{at}": one for slot, many in trainer.state.slots.items() for at, one in enumerate(many)}
    averages = {f"average of {name}": one for name, one in trainer.averaged.named_parameters().items()}
    tensors = {**parameters, **states, **memory, **averages, "step": trainer.state.step}
    bits = {name: one.to_host().tobytes().hex() for name, one in tensors.items()}
    return json.dumps({"tensors": bits, "epochs": epochs})


def train(folder: Path) -> str:
    """The whole run, or what is left of it."""
    trainer = new_trainer()
    history = trainer.fit(
        loader(),
        epochs=EPOCHS,
        test=DataLoader(dataset(), batch_size=20),
        progress=False,
        accumulate=2,
        callbacks=[CsvLog(folder.with_suffix(".csv"))],
        checkpoints=Checkpoints(folder, every=2, keep_last=2, keep_best=1),
        resume=True,
    )
    return outcome(trainer, [{"steps": one.steps, "train": one.train, "test": one.test} for one in history.epochs])


def killing[**P, R](function: Callable[P, R], number: int) -> Callable[P, R]:
    """The function, whose call of this number, from 0, never begins."""
    calls = iter(range(number + 1))

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)

    return call


def main(folder: str, result: str, operation: str = "", number: str = "0") -> None:
    match operation:
        case "os.write":
            os.write = killing(os.write, int(number))
        case "os.fsync":
            os.fsync = killing(os.fsync, int(number))
        case "os.replace":
            os.replace = killing(os.replace, int(number))
        case "unlink":
            Path.unlink = killing(Path.unlink, int(number))  # type: ignore[method-assign] # the same signature
        case "step":
            Trainer.step = killing(Trainer.step, int(number))  # type: ignore[method-assign] # the same signature
    Path(result).write_text(train(Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
