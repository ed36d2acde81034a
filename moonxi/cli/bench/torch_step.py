"""The same steps with PyTorch, in a process of its own: a program for any Python (3.10 or newer) that has both.

    python torch_step.py TASK.npz {mlp,lenet} DEVICE THREADS

It answers the line ``version 0`` with PyTorch's, and ``losses N`` or ``times N`` with a list: the losses of N steps, or
their times in milliseconds.
"""

import json
import sys
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np


def new_model(torch: Any, name: str, weights: list[Any]) -> Any:
    """The network, with weights in the order of its layers; those of linear layers come as ``(inputs, outputs)``."""
    nn = torch.nn
    if name == "mlp":
        layers = [nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)]
    else:
        layers = [
            *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        ]
    model = nn.Sequential(*layers)
    with torch.no_grad():
        for parameter, weight in zip(model.parameters(), weights, strict=True):
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(weight.T if weight.ndim == 2 else weight)))
    return model


def main(task: str, name: str, device: str, threads: str) -> None:
    """Answer until there are no more questions."""
    torch: Any = import_module("torch")
    torch.set_num_threads(int(threads))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    with np.load(task) as stored:
        weights = [stored[f"weight{number}"] for number in range(len(stored.files) - 2)]
        x, labels = (torch.from_numpy(stored[kind]).to(device) for kind in ("images", "labels"))
    model = new_model(torch, name, weights).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)

    def step() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 35.0)
        optimizer.step()
        return float(loss.item())

    def timed() -> float:
        start = perf_counter()
        step()
        return (perf_counter() - start) * 1e3

    for line in sys.stdin:
        question, number = line.split()
        steps = [step() if question == "losses" else timed() for _ in range(int(number))]
        print(json.dumps(torch.__version__ if question == "version" else steps), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
