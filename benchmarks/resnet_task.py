"""What every system trains: ResNet-18 on batches of random images of 32 x 32 pixels, from the same weights.

It is the ResNet-18 for ImageNet, its stem 7 x 7 with stride 2 and max pooling, convolutions with biases, ten classes.
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

CLIP_NORM = 35.0
LEARNING_RATE = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4

GROUP = "ResNet-18 training step"


@dataclass(frozen=True)
class Task:
    """Weights by torchvision's names, images ``(batches, n, 3, 32, 32)`` and labels ``(batches, n)``."""

    weights: dict[str, NDArray[np.float32]]
    images: NDArray[np.float32]
    labels: NDArray[np.int64]

    def save(self, file: Path) -> None:
        """Write it for the workers."""
        arrays: dict[str, Any] = self.weights
        np.savez(file, images=self.images, labels=self.labels, **arrays)

    @classmethod
    def load(cls, file: str) -> "Task":
        """Read what `save` has written."""
        with np.load(file) as stored:
            arrays = dict(stored)
        images, labels = arrays.pop("images"), arrays.pop("labels")
        return cls(arrays, images, labels)


def run(system: str, versions: dict[str, str], make_step: Callable[[Task], Callable[[int], Scalar]]) -> None:
    """Be the worker of one system. A step takes the number of its batch, updates the weights and gives the loss."""
    task = Task.load(sys.argv[1])
    workload = f"32 x 32 pixels, batch {task.images.shape[1]}"
    train(GROUP, workload, system, versions, make_step(task), len(task.images))
