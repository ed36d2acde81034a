"""The training step with moonxi, eagerly: a worker of ``benchmarks/resnet.py``."""

from collections.abc import Callable

import moonxi as mx
from benchmarks import resnet_task
from benchmarks.machine import numpy_version, python_version
from benchmarks.resnet_task import Task
from moonxi.losses import cross_entropy
from moonxi.nn.models import ResNet18
from moonxi.nn.models.torchvision import torchvision_name


def loss[T: mx.ImageModelTensor](model: ResNet18[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def make_step(task: Task) -> Callable[[int], mx.NpArray[mx.F32]]:
    cpu = mx.numpy()
    new = ResNet18.init(like=cpu, key=mx.Key(0))
    arrays = {name: task.weights[torchvision_name(name)] for name in new.named_parameters()}
    arrays["head.weight"] = arrays["head.weight"].T
    model = new.with_parameters([cpu.from_host(array) for array in arrays.values()])
    optimizer = mx.Sgd(
        lr=resnet_task.LEARNING_RATE,
        momentum=resnet_task.MOMENTUM,
        weight_decay=resnet_task.WEIGHT_DECAY,
        clip_norm=resnet_task.CLIP_NORM,
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
    resnet_task.run("moonxi eager", {"python": python_version(), "numpy": numpy_version()}, make_step)
