"""What every system trains: an MLP 784-128-64-10 with ReLU on batches of 64 digits, from the same weights.

The gradients together are clipped to the norm 35; then SGD with momentum 0.9 and weight decay 1e-4 at the learning rate
0.01. All of it is float32. The workers read the weights and the batches from a file, so that none draws its own.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.worker import median_ms, serve

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


class Scalar(Protocol):
    """A number in any library."""

    def item(self) -> Any: ...


def run(system: str, versions: dict[str, str], make_step: Callable[[Task], Callable[[int], Scalar]]) -> None:
    """Be the worker of one system. A step takes the number of its batch, updates the weights and gives the loss."""
    task = Task.load(sys.argv[1])
    step = make_step(task)
    batches = len(task.images)
    number = count()

    def losses(steps: int) -> list[float]:
        return [float(step(next(number) % batches).item()) for _ in range(steps)]

    def measure(steps: int) -> list[dict[str, object]]:
        ms = median_ms(step, (next(number) % batches for _ in range(steps)))
        return [{"group": GROUP, "workload": "784-128-64-10, batch 64", "system": system, "ms": ms}]

    serve({"versions": lambda _: versions, "losses": losses, "measure": measure})
