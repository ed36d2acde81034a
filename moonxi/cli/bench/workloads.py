"""What is timed: a training step of two small networks, as moonxi makes it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.numpy import numpy
from moonxi.data import Labelled
from moonxi.key import Key
from moonxi.losses import Logits, cross_entropy
from moonxi.nn import Mode
from moonxi.nn.models import LeNet, Mlp
from moonxi.optim import Sgd
from moonxi.train import Trainer
from moonxi.traits import ImageModelTensor

BATCH: Final = 64
CLASSES: Final = 10
OPTIMIZER: Final = Sgd(lr=0.01, momentum=0.9, weight_decay=1e-4, clip_norm=35.0)


@dataclass(frozen=True)
class Workload:
    """A network by name, and the shape of its batch of images."""

    name: str
    title: str
    shape: tuple[int, ...]


WORKLOADS: Final = (
    Workload("mlp", "MLP 784-128-64-10", (BATCH, 784)),
    Workload("lenet", "LeNet, 28 x 28", (BATCH, 1, 28, 28)),
)

type Network[T: ImageModelTensor] = Mlp[T] | LeNet[T]


def loss[T: ImageModelTensor](model: Network[T], batch: Labelled[T], mode: Mode) -> T:
    """The cross-entropy of the batch."""
    logits: Logits[T] = model.forward(batch.x, mode)
    return cross_entropy(logits, batch.labels)


@dataclass(frozen=True)
class Task:
    """The same weights, images and labels for every system."""

    workload: Workload
    weights: list[NDArray[np.float32]]
    images: NDArray[np.float32]
    labels: NDArray[np.int64]

    @classmethod
    def new(cls, workload: Workload) -> "Task":
        """Random weights and images."""
        host = numpy()
        model: Mlp[Any] | LeNet[Any]
        if workload.name == "mlp":
            model = Mlp.init(784, 128, 64, CLASSES, like=host, key=Key(0))
        else:
            model = LeNet.init(like=host, key=Key(0))
        weights = [one.to_host() for one in model.parameters()]
        images = host.uniform(workload.shape, Key(1)).to_host()
        return cls(workload, weights, images, np.arange(BATCH) % CLASSES)

    def save(self, file: Path) -> None:
        """Write it for a peer: ``images``, ``labels`` and ``weight0``, ``weight1``, ..."""
        weights: dict[str, Any] = {f"weight{number}": one for number, one in enumerate(self.weights)}
        np.savez(file, images=self.images, labels=self.labels, **weights)


def stepper[T: ImageModelTensor](like: T, task: Task, *, compiled: bool) -> Callable[[], float]:
    """A training step; each call makes the next one, and gives the loss before it."""
    weights = [like.from_host(one) for one in task.weights]
    batch = Labelled(like.from_host(task.images), like.labels(task.labels))
    if task.workload.name == "mlp":
        mlp = Mlp.init(784, 128, 64, CLASSES, like=like, key=Key(0)).with_parameters(weights)
        first = Trainer(mlp, loss, OPTIMIZER, key=Key(2), compile=compiled)
        return lambda: first.step(batch)["loss"]
    lenet = LeNet.init(like=like, key=Key(0)).with_parameters(weights)
    second = Trainer(lenet, loss, OPTIMIZER, key=Key(2), compile=compiled)
    return lambda: second.step(batch)["loss"]
