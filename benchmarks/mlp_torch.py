"""The training step with PyTorch, eagerly: a worker of ``benchmarks/mlp.py`` in an environment that has PyTorch.

With ``--fused`` the optimizer is PyTorch's fused one, which is not its default on the CPU but the fastest there. With
``--compiled`` forward and backward pass are compiled as well, by its default compiler, which needs one for C++.
"""

import platform
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks import mlp_task
from benchmarks.mlp_task import Task

COMPILED = "--compiled" in sys.argv
FUSED = COMPILED or "--fused" in sys.argv

# PyTorch is no dependency, not even of the development tools, so type checkers do not get to see it.
torch: Any = import_module("torch")


def make_step(task: Task) -> Callable[[int], Any]:
    layers: list[Any] = []
    for number, weight in enumerate(task.weights):
        layer = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight).T)
            layer.bias.zero_()
        layers += [torch.nn.ReLU(), layer] if number else [layer]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=mlp_task.LEARNING_RATE,
        momentum=mlp_task.MOMENTUM,
        weight_decay=mlp_task.WEIGHT_DECAY,
        fused=FUSED,
    )
    images, labels = torch.from_numpy(task.images), torch.from_numpy(task.labels)
    batches = list(zip(images, labels, strict=True))

    def loss_of(x: Any, y: Any) -> Any:
        return torch.nn.functional.cross_entropy(model(x), y)

    call = torch.compile(loss_of) if COMPILED else loss_of

    def step(number: int) -> Any:
        x, y = batches[number]
        optimizer.zero_grad()
        loss = call(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), mlp_task.CLIP_NORM)
        optimizer.step()
        return loss

    return step


if __name__ == "__main__":
    blas = "MKL" if torch.backends.mkl.is_available() else "no MKL"
    versions = {"torch": f"{torch.__version__} ({blas})", "python of torch": platform.python_version()}
    name = "PyTorch eager, fused SGD" if FUSED else "PyTorch eager"
    mlp_task.run("PyTorch compiled, fused SGD" if COMPILED else name, versions, make_step)
