"""What both systems train, epoch by epoch: the same data, initial weights, order and settings, read from one file.

``mnist`` is the network of ``examples/mnist.py``, ``cifar10`` the ResNet-18 of ``examples/cifar10.py``, each by the
recipe of the original of moonxi. An epoch is timed from the making of its first batch to the loss of its last step:
pixels are taken from an array of bytes and divided by 255, brought to the device, and loss and accuracy are read after
each step. An evaluation is timed likewise.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.worker import serve

TEST_BATCH = 500


@dataclass(frozen=True)
class Settings:
    """The hyper-parameters: SGD with momentum and weight decay after the gradients are clipped together."""

    model: str
    batch: int
    lr: float
    decay_every: int
    """Epochs after which the learning rate is multiplied by ``decay``."""
    decay: float
    momentum: float
    weight_decay: float
    clip_norm: float


MNIST = Settings("mnist", 64, 0.01, 5, 0.5, 0.9, 1e-4, 35.0)
CIFAR10 = Settings("cifar10", 128, 0.01, 20, 0.1, 0.9, 1e-4, 35.0)


@dataclass(frozen=True)
class Split:
    """Images as bytes, ``(samples, 784)`` or ``(samples, 3, 32, 32)``, and labels ``(samples,)``."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]

    def batch(self, index: NDArray[np.intp] | slice) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Pixels from 0 to 1, and labels."""
        return self.images[index].astype(np.float32) / np.float32(255.0), self.labels[index]

    def batches(self) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        """All of it in order, for an evaluation."""
        for at in range(0, len(self.labels), TEST_BATCH):
            yield self.batch(slice(at, at + TEST_BATCH))


@dataclass(frozen=True)
class Task:
    """All that is the same on both sides; weights by the names of PyTorch, linear ones ``(outputs, inputs)``."""

    settings: Settings
    train: Split
    test: Split
    orders: NDArray[np.intp]
    """For each epoch the positions of the samples: ``(epochs, samples)``."""
    weights: dict[str, NDArray[np.float32]]

    @property
    def steps(self) -> int:
        """Steps an epoch; the last batch may be smaller."""
        return -(-len(self.train.labels) // self.settings.batch)

    def epoch(self, number: int) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        """The batches of an epoch, counted from 0."""
        order, size = self.orders[number], self.settings.batch
        for at in range(0, len(order), size):
            yield self.train.batch(order[at : at + size])

    def save(self, file: Path) -> None:
        """Write it for the workers."""
        arrays: dict[str, Any] = {f"weight {name}": one for name, one in self.weights.items()}
        for name, split in (("train", self.train), ("test", self.test)):
            arrays |= {f"{name} images": split.images, f"{name} labels": split.labels}
        np.savez(file, orders=self.orders, settings=np.array(json.dumps(asdict(self.settings))), **arrays)

    @classmethod
    def load(cls, file: str) -> "Task":
        """Read what `save` has written."""
        with np.load(file) as stored:
            weights = {name.removeprefix("weight "): stored[name] for name in stored if name.startswith("weight ")}
            return cls(
                Settings(**json.loads(str(stored["settings"]))),
                Split(stored["train images"], stored["train labels"]),
                Split(stored["test images"], stored["test labels"]),
                stored["orders"],
                weights,
            )


class Learner(Protocol):
    """A system with a model, its optimizer and its way to the device."""

    def step(self, x: NDArray[np.float32], labels: NDArray[np.int64], epoch: int) -> tuple[float, float]:
        """One update; the loss and the accuracy before it."""
        ...

    def evaluate(self, x: NDArray[np.float32], labels: NDArray[np.int64]) -> tuple[float, float]:
        """Loss and accuracy of a batch, in evaluation mode."""
        ...


def run(system: str, versions: dict[str, str], make: Callable[[Task], Learner]) -> None:
    """Be the worker of one system, asked for one epoch after the other."""
    task = Task.load(sys.argv[1])
    learner = make(task)

    def epoch(number: int) -> dict[str, object]:
        start = perf_counter()
        train = _means((*learner.step(x, labels, number), len(labels)) for x, labels in task.epoch(number))
        middle = perf_counter()
        test = _means((*learner.evaluate(x, labels), len(labels)) for x, labels in task.test.batches())
        end = perf_counter()
        return {
            "system": system,
            "epoch": number + 1,
            "train_loss": train[0],
            "train_accuracy": train[1],
            "test_loss": test[0],
            "test_accuracy": test[1],
            "train_seconds": middle - start,
            "test_seconds": end - middle,
        }

    serve({"versions": lambda _: versions, "epoch": epoch})


def _means(values: Iterator[tuple[float, float, int]]) -> tuple[float, float]:
    """Of losses and accuracies, over samples."""
    losses = hits = samples = 0.0
    for loss, accuracy, size in values:
        losses += loss * size
        hits += accuracy * size
        samples += size
    return losses / samples, hits / samples
