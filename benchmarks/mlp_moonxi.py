"""The training step with moonxi, eagerly: a worker of ``benchmarks/mlp.py``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float

import moonxi as mx
from benchmarks import mlp_task
from benchmarks.machine import numpy_version, python_version
from benchmarks.mlp_task import Task
from moonxi import nn
from moonxi.losses import Logits, cross_entropy


@dataclass(frozen=True)
class Mlp[T: mx.MlpTensor](nn.Module[T]):
    first: nn.Linear[T]
    second: nn.Linear[T]
    third: nn.Linear[T]

    if TYPE_CHECKING:

        def map[U: mx.MlpTensor](self, f: Callable[[T], U], /) -> "Mlp[U]": ...

    def forward(self, x: Float[T, "batch 784"], mode: mx.Mode) -> Logits[T]:
        hidden = self.first.forward(x).relu()
        return Logits(self.third.forward(self.second.forward(hidden).relu()))


def loss[T: mx.MlpTensor](model: Mlp[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def make_step(task: Task) -> Callable[[int], mx.NpArray[mx.F32]]:
    cpu = mx.numpy()
    layers = [nn.Linear(cpu.from_host(weight), cpu.zeros(weight.shape[1:])) for weight in task.weights]
    model = Mlp(*layers)
    optimizer = mx.Sgd(
        lr=mlp_task.LEARNING_RATE,
        momentum=mlp_task.MOMENTUM,
        weight_decay=mlp_task.WEIGHT_DECAY,
        clip_norm=mlp_task.CLIP_NORM,
    )
    state = optimizer.init(model)
    mode = mx.Train(mx.Key(0))
    batches = [mx.Labelled(cpu.from_host(x), cpu.labels(y)) for x, y in zip(task.images, task.labels, strict=True)]

    def step(number: int) -> mx.NpArray[mx.F32]:
        nonlocal model, state
        value, gradients = mx.value_and_grad(loss, model, batches[number], mode)
        model, state = optimizer.update(model, gradients, state)
        return value

    return step


if __name__ == "__main__":
    mlp_task.run("moonxi eager", {"python": python_version(), "numpy": numpy_version()}, make_step)
