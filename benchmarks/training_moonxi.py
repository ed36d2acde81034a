"""Whole trainings with moonxi's `Trainer`: a worker of ``benchmarks/compare_training.py``.

With ``--compile`` the steps are compiled, with ``--gpu`` they run on an NVIDIA GPU, with ``--bf16`` the passes in
bfloat16.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import moonxi as mx
from benchmarks.machine import numpy_version, python_version
from benchmarks.mlp_moonxi import Mlp
from benchmarks.training_task import Learner, Settings, Task, run
from moonxi import nn, optim
from moonxi.losses import Logits, cross_entropy
from moonxi.nn.models import ResNet18
from moonxi.nn.models.torchvision import torchvision_name

COMPILED = "--compile" in sys.argv
ON_GPU = "--gpu" in sys.argv
BF16 = "--bf16" in sys.argv


def loss[T: mx.ImageModelTensor](
    model: Mlp[T] | ResNet18[T], batch: mx.Labelled[T], mode: mx.Mode
) -> tuple[T, dict[str, T]]:
    logits: Logits[T] = model.forward(batch.x, mode)
    right = logits.predicted().equal(batch.labels)
    return cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


@dataclass(frozen=True)
class One[B]:
    """A single batch as the data of an evaluation."""

    batch: B

    def __len__(self) -> int:
        return 1

    def epoch(self, epoch: int, /) -> Iterator[B]:
        return iter((self.batch,))


class Moonxi[T: mx.ImageModelTensor, M]:
    """A trainer as the benchmark asks for it."""

    def __init__(self, like: T, trainer: "mx.Trainer[T, M, mx.Labelled[T]]") -> None:
        self._like = like
        self._trainer = trainer

    def _batch(self, x: NDArray[np.float32], labels: NDArray[np.int64]) -> mx.Labelled[T]:
        return mx.Labelled(self._like.from_host(x), self._like.labels(labels))

    def step(self, x: NDArray[np.float32], labels: NDArray[np.int64], epoch: int) -> tuple[float, float]:
        values = self._trainer.step(self._batch(x, labels))
        return values["loss"], values["accuracy"]

    def evaluate(self, x: NDArray[np.float32], labels: NDArray[np.int64]) -> tuple[float, float]:
        values = self._trainer.evaluate(One(self._batch(x, labels)))
        return values["loss"], values["accuracy"]


def optimizer(settings: Settings, steps: int) -> optim.Sgd:
    return optim.Sgd(
        lr=optim.step_decay(settings.lr, every=optim.Steps(settings.decay_every * steps), factor=settings.decay),
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
        clip_norm=settings.clip_norm,
    )


def new_mlp[T: mx.ImageModelTensor](like: T, weights: dict[str, NDArray[np.float32]]) -> Mlp[T]:
    layers = [
        nn.Linear(like.from_host(weights[f"{name}.weight"].T), like.from_host(weights[f"{name}.bias"]))
        for name in ("first", "second", "third")
    ]
    return Mlp(*layers)


def new_resnet[T: mx.ImageModelTensor](like: T, weights: dict[str, NDArray[np.float32]]) -> ResNet18[T]:
    new = ResNet18.init(like=like, key=mx.Key(0))
    arrays = {name: weights[torchvision_name(name)] for name in new.named_parameters()}
    arrays["head.weight"] = arrays["head.weight"].T
    return new.with_parameters([like.from_host(array) for array in arrays.values()])


def make(task: Task) -> Learner:
    if not ON_GPU:
        return _make(mx.numpy(), task)
    return _make_in_bf16(mx.gpu(), task) if BF16 else _make(mx.gpu(), task)


def _make[T: mx.ImageModelTensor](like: T, task: Task) -> Learner:
    rule = optimizer(task.settings, task.steps)
    if task.settings.model == "mnist":
        mlp = new_mlp(like, task.weights)
        return Moonxi(like, mx.Trainer(mlp, loss, rule, key=mx.Key(0), compile=COMPILED))
    resnet = new_resnet(like, task.weights)
    return Moonxi(like, mx.Trainer(resnet, loss, rule, key=mx.Key(0), compile=COMPILED))


def _make_in_bf16(like: mx.GpuTensor[mx.F32], task: Task) -> Learner:
    rule, passes = optimizer(task.settings, task.steps), mx.gpu(mx.BF16)
    if task.settings.model == "mnist":
        mlp = new_mlp(like, task.weights)
        return Moonxi(like, mx.Trainer(mlp, loss, rule, key=mx.Key(0), compile=COMPILED, passes=passes))
    resnet = new_resnet(like, task.weights)
    return Moonxi(like, mx.Trainer(resnet, loss, rule, key=mx.Key(0), compile=COMPILED, passes=passes))


if __name__ == "__main__":
    name = "moonxi compiled" if COMPILED else "moonxi"
    run(name, {"python": python_version(), "numpy": numpy_version()}, make)
