"""Whole trainings with PyTorch: a worker of ``benchmarks/compare_training.py`` in an environment that has PyTorch.

The same as the worker of moonxi does, written as PyTorch's tutorials do; with ``--gpu`` on an NVIDIA GPU, where
products stay in single precision (no TF32), as moonxi's do; with ``--bf16`` passes are under autocast to bfloat16.
"""

import platform
import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.training_task import Learner, Task, run

# PyTorch is no dependency, not even of the development tools, so type checkers do not get to see it.
torch: Any = import_module("torch")
DEVICE = "cuda" if "--gpu" in sys.argv else "cpu"
BF16 = "--bf16" in sys.argv


def new_model(task: Task) -> tuple[Any, Any]:
    """The parameters under their names, and the function from them and images to scores."""
    if task.settings.model == "mnist":
        sizes = {"first": (784, 128), "second": (128, 64), "third": (64, 10)}
        mlp = torch.nn.ModuleDict({name: torch.nn.Linear(*size) for name, size in sizes.items()})
        return mlp, lambda model, x: model["third"](model["second"](model["first"](x).relu()).relu())
    resnet: Any = import_module("benchmarks.resnet_torch")
    return resnet.resnet18(len(task.weights["fc.bias"])), resnet.forward


class Torch:
    """The training loop of PyTorch as the benchmark asks for it."""

    def __init__(self, task: Task) -> None:
        self._settings = task.settings
        self._model, self._forward = new_model(task)
        with torch.no_grad():
            for name, parameter in self._model.named_parameters():
                parameter.copy_(torch.from_numpy(np.ascontiguousarray(task.weights[name])))
        self._model.to(DEVICE)
        self._optimizer = torch.optim.SGD(
            self._model.parameters(),
            lr=task.settings.lr,
            momentum=task.settings.momentum,
            weight_decay=task.settings.weight_decay,
        )

    def _scored(self, x: NDArray[np.float32], labels: NDArray[np.int64]) -> tuple[Any, Any]:
        """The loss, and the accuracy."""
        truth = torch.from_numpy(labels).to(DEVICE)
        with torch.autocast(DEVICE, torch.bfloat16, enabled=BF16):
            scores = self._forward(self._model, torch.from_numpy(x).to(DEVICE)).float()
        return torch.nn.functional.cross_entropy(scores, truth), (scores.argmax(1) == truth).float().mean()

    def step(self, x: NDArray[np.float32], labels: NDArray[np.int64], epoch: int) -> tuple[float, float]:
        settings = self._settings
        self._model.train()
        for group in self._optimizer.param_groups:
            group["lr"] = settings.lr * settings.decay ** (epoch // settings.decay_every)
        self._optimizer.zero_grad()
        loss, accuracy = self._scored(x, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), settings.clip_norm)
        self._optimizer.step()
        return loss.item(), accuracy.item()

    def evaluate(self, x: NDArray[np.float32], labels: NDArray[np.int64]) -> tuple[float, float]:
        self._model.eval()
        with torch.no_grad():
            loss, accuracy = self._scored(x, labels)
            return loss.item(), accuracy.item()


def make(task: Task) -> Learner:
    return Torch(task)


if __name__ == "__main__":
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    run("PyTorch", {"torch": torch.__version__, "python of torch": platform.python_version()}, make)
