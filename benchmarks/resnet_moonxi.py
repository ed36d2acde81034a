"""The training step with moonxi, eagerly: a worker of ``benchmarks/resnet.py``."""

from collections.abc import Callable

import moonxi as mx
from benchmarks import resnet_task
from benchmarks.machine import numpy_version, python_version
from benchmarks.resnet_task import Task
from moonxi.losses import cross_entropy
from moonxi.nn.models import ResNet18
from moonxi.nn.models.torchvision import torchvision_name
from moonxi.optim import OptimizerState


def loss[T: mx.ImageModelTensor](model: ResNet18[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


type Host = mx.NpArray[mx.F32]
type State = OptimizerState[Host, ResNet18[Host]]
type Step = Callable[[ResNet18[Host], State, mx.Labelled[Host], mx.Key], tuple[ResNet18[Host], State, Host]]

OPTIMIZER = mx.Sgd(
    lr=resnet_task.LEARNING_RATE,
    momentum=resnet_task.MOMENTUM,
    weight_decay=resnet_task.WEIGHT_DECAY,
    clip_norm=resnet_task.CLIP_NORM,
)


def update(
    model: ResNet18[Host], state: State, batch: mx.Labelled[Host], key: mx.Key
) -> tuple[ResNet18[Host], State, Host]:
    value, gradients = mx.value_and_grad(loss, model, batch, mx.Train(key))
    return (*OPTIMIZER.update(model, gradients, state), value)


def make_step(task: Task, update: Step = update) -> Callable[[int], Host]:
    cpu = mx.numpy()
    new = ResNet18.init(like=cpu, key=mx.Key(0))
    arrays = {name: task.weights[torchvision_name(name)] for name in new.named_parameters()}
    arrays["head.weight"] = arrays["head.weight"].T
    model = new.with_parameters([cpu.from_host(array) for array in arrays.values()])
    state = OPTIMIZER.init(model)
    batches = [mx.Labelled(cpu.from_host(x), cpu.labels(y)) for x, y in zip(task.images, task.labels, strict=True)]
    key = mx.Key(0)

    def step(number: int) -> Host:
        nonlocal model, state
        model, state, value = update(model, state, batches[number], key)
        return value

    return step


if __name__ == "__main__":
    resnet_task.run("moonxi eager", {"python": python_version(), "numpy": numpy_version()}, make_step)
