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
from moonxi.optim import OptimizerState


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


type Host = mx.NpArray[mx.F32]
type State = OptimizerState[Host, Mlp[Host]]
type Step = Callable[[Mlp[Host], State, mx.Labelled[Host], mx.Key], tuple[Mlp[Host], State, Host]]

OPTIMIZER = mx.Sgd(
    lr=mlp_task.LEARNING_RATE,
    momentum=mlp_task.MOMENTUM,
    weight_decay=mlp_task.WEIGHT_DECAY,
    clip_norm=mlp_task.CLIP_NORM,
)


def update(model: Mlp[Host], state: State, batch: mx.Labelled[Host], key: mx.Key) -> tuple[Mlp[Host], State, Host]:
    value, gradients = mx.value_and_grad(loss, model, batch, mx.Train(key))
    return (*OPTIMIZER.update(model, gradients, state), value)


def make_step(task: Task, update: Step = update) -> Callable[[int], Host]:
    cpu = mx.numpy()
    model = Mlp(*(nn.Linear(cpu.from_host(weight), cpu.zeros(weight.shape[1:])) for weight in task.weights))
    state = OPTIMIZER.init(model)
    batches = [mx.Labelled(cpu.from_host(x), cpu.labels(y)) for x, y in zip(task.images, task.labels, strict=True)]
    key = mx.Key(0)

    def step(number: int) -> Host:
        nonlocal model, state
        model, state, value = update(model, state, batches[number], key)
        return value

    return step


if __name__ == "__main__":
    mlp_task.run("moonxi eager", {"python": python_version(), "numpy": numpy_version()}, make_step)
