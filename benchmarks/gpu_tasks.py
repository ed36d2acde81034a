"""What `benchmarks.train_step` trains: one task for moonxi and PyTorch, with the same weights and batches."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import moonxi as mx
from benchmarks import mlp_moonxi, mlp_task, resnet_moonxi, resnet_task
from benchmarks.resnet import make_task
from moonxi import nn
from moonxi.nn.models import ResNet18

PRECISIONS = {"fp32": mx.F32, "tf32": mx.F32, "bf16": mx.BF16}
"""In bf16 everything is, the parameters too, in both systems."""
BATCHES = 4


@dataclass(frozen=True)
class Side:
    """A model on the device, what is computed of it, and batches. For PyTorch ``loss`` is the forward pass."""

    model: Any
    loss: Any
    batches: list[Any]


@dataclass(frozen=True)
class Task:
    """Both sides; PyTorch's makes a new model each time, as its steps change it, and is None where it is missing."""

    own: Callable[[], Side]
    """A new model on the device, so that nobody holds the first one while it is trained."""
    other: Callable[[], Side] | None
    arrays: mlp_task.Task | resnet_task.Task
    """Weights and batches as arrays of the host, for others."""
    precision: str


def like(precision: str, *, autotune: bool) -> Any:
    """The GPU as moonxi has it."""
    if precision == "tf32":
        return mx.gpu(mx.F32, tf32=True, autotune=autotune)
    return mx.gpu(PRECISIONS[precision], autotune=autotune)


def mlp(precision: str, *, autotune: bool) -> Task:
    """The multi-layer perceptron 784-128-64-10 at batch 64."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(0.0, (2.0 / n) ** 0.5, (n, m)).astype(np.float32) for n, m in mlp_task.LAYERS]
    images = rng.random((BATCHES, mlp_task.BATCH, 784), np.float32)
    labels = rng.integers(0, 10, (BATCHES, mlp_task.BATCH))
    on = like(precision, autotune=autotune)
    batches = [mx.Labelled(on.from_host(x), on.labels(y)) for x, y in zip(images, labels, strict=True)]

    def own() -> Side:
        layers = [nn.Linear(on.from_host(weight), on.zeros(weight.shape[1:])) for weight in weights]
        return Side(mlp_moonxi.Mlp(*layers), mlp_moonxi.loss, batches)

    def other() -> Side:
        torch: Any = import_module("torch")
        parts: list[Any] = []
        for number, weight in enumerate(weights):
            layer = torch.nn.Linear(*weight.shape)
            with torch.no_grad():
                layer.weight.copy_(torch.from_numpy(weight).T)
                layer.bias.zero_()
            parts += [torch.nn.ReLU(), layer] if number else [layer]
        model = torch.nn.Sequential(*parts).to("cuda", _dtype(precision))
        return Side(model, lambda model, x: model(x), _torch_batches(images, labels, precision))

    arrays = mlp_task.Task(weights, images, labels)
    return Task(own, other if find_spec("torch") is not None else None, arrays, precision)


def resnet(batch: int, precision: str, *, autotune: bool) -> Task:
    """ResNet-18 on images of 32 x 32 pixels."""
    task = make_task(batch, BATCHES)
    on = like(precision, autotune=autotune)
    cpu = ResNet18.init(like=mx.numpy(), key=mx.Key(0))
    move: Any = cpu.map
    batches = [mx.Labelled(on.from_host(x), on.labels(y)) for x, y in zip(task.images, task.labels, strict=True)]

    def own() -> Side:
        return Side(move(lambda tensor: on.from_host(tensor.to_host())), resnet_moonxi.loss, batches)

    def other() -> Side:
        torch: Any = import_module("torch")
        peer: Any = import_module("benchmarks.resnet_torch")
        model = peer.resnet18(len(task.weights["fc.bias"]))
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(torch.from_numpy(task.weights[name]))
        model = model.to("cuda", _dtype(precision)).train()
        return Side(model, peer.forward, _torch_batches(task.images, task.labels, precision))

    return Task(own, other if find_spec("torch") is not None else None, task, precision)


def _dtype(precision: str) -> Any:
    torch: Any = import_module("torch")
    return torch.bfloat16 if precision == "bf16" else torch.float32


def _torch_batches(images: Any, labels: Any, precision: str) -> list[Any]:
    torch: Any = import_module("torch")
    return [
        (torch.from_numpy(x).to("cuda", _dtype(precision)), torch.from_numpy(y).to("cuda"))
        for x, y in zip(images, labels, strict=True)
    ]
