"""The training step with moonxi, compiled: a worker of ``benchmarks/train_step_cpu.py``. ``--numba`` allows Numba."""

import sys
from collections.abc import Callable

import moonxi as mx
from benchmarks import mlp_task
from benchmarks.machine import moonxi_versions
from benchmarks.mlp_moonxi import Mlp, loss
from benchmarks.mlp_task import Task
from moonxi import nn
from moonxi.optim import OptimizerState

type Host = mx.NpArray[mx.F32]
type State = OptimizerState[Host, Mlp[Host]]

OPTIMIZER = mx.Sgd(
    lr=mlp_task.LEARNING_RATE,
    momentum=mlp_task.MOMENTUM,
    weight_decay=mlp_task.WEIGHT_DECAY,
    clip_norm=mlp_task.CLIP_NORM,
)
NUMBA = "--numba" in sys.argv


def update(model: Mlp[Host], state: State, batch: mx.Labelled[Host], key: mx.Key) -> tuple[Mlp[Host], State, Host]:
    value, gradients = mx.value_and_grad(loss, model, batch, mx.Train(key))
    return (*OPTIMIZER.update(model, gradients, state), value)


compiled = mx.compile(update, without=() if NUMBA else ("numba",))


def make_step(task: Task) -> Callable[[int], Host]:
    cpu = mx.numpy()
    model = Mlp(*(nn.Linear(cpu.from_host(weight), cpu.zeros(weight.shape[1:])) for weight in task.weights))
    state = OPTIMIZER.init(model)
    batches = [mx.Labelled(cpu.from_host(x), cpu.labels(y)) for x, y in zip(task.images, task.labels, strict=True)]
    key = mx.Key(0)

    def step(number: int) -> Host:
        nonlocal model, state
        model, state, value = compiled(model, state, batches[number], key)
        return value

    return step


if __name__ == "__main__":
    name = "moonxi compiled, Numba" if NUMBA else "moonxi compiled"
    mlp_task.run(name, moonxi_versions(NUMBA), make_step)
