"""What every system trains: an MLP 784-128-64-10 with ReLU on batches of 64 digits, from the same weights.

The gradients together are clipped to the norm 35; then SGD with momentum 0.9 and weight decay 1e-4 at the learning rate
0.01. All of it is float32. The workers read the weights and the batches from a file, so that none draws its own.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.worker import Scalar, train

LAYERS = ((784, 128), (128, 64), (64, 10))
BATCH = 64
CLIP_NORM = 35.0
LEARNING_RATE = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4

GROUP = "MLP training step"


@dataclass(frozen=True)
class Task:
    """Weights ``(inputs, outputs)``, images ``(batches, 64, 784)`` and labels ``(batches, 64)``; biases start at 0."""

    weights: list[NDArray[np.float32]]
    images: NDArray[np.float32]
    labels: NDArray[np.int64]

    def save(self, file: Path) -> None:
        """Write it for the workers."""
        arrays: dict[str, Any] = {f"weight{number}": weight for number, weight in enumerate(self.weights)}
        np.savez(file, images=self.images, labels=self.labels, **arrays)

    @classmethod
    def load(cls, file: str) -> "Task":
        """Read what `save` has written."""
        with np.load(file) as stored:
            weights = [stored[f"weight{number}"] for number in range(len(LAYERS))]
            return cls(weights, stored["images"], stored["labels"])


def run(system: str, versions: dict[str, str], make_step: Callable[[Task], Callable[[int], Scalar]]) -> None:
    """Be the worker of one system. A step takes the number of its batch, updates the weights and gives the loss."""
    task = Task.load(sys.argv[1])
    train(GROUP, "784-128-64-10, batch 64", system, versions, make_step(task), len(task.images))
