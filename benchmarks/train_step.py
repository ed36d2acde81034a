"""Time of a training step on the GPU, beside PyTorch in the same process: ``python -m benchmarks.train_step``.

All start from the same weights and see the same batches, which are on the device; the losses of the first steps are
shown side by side. A time is the median over rounds, in which the systems take turns, of the time of several steps
between two synchronisations.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import moonxi as mx
from benchmarks import gpu_tasks, gpu_torch, resnet_task
from benchmarks.gpu_tasks import PRECISIONS, Side, Task
from benchmarks.gpu_torch import Step

WORKLOADS: dict[str, Callable[..., Task]] = {
    "mlp 64": gpu_tasks.mlp,
    "resnet18 128": lambda precision, **options: gpu_tasks.resnet(128, precision, **options),
    "resnet18 1024": lambda precision, **options: gpu_tasks.resnet(1024, precision, **options),
}
COUNTS = {"mlp 64": 100, "resnet18 128": 10, "resnet18 1024": 10}
"""Steps between two synchronisations."""


def steps(side: Side, *, compiled: bool) -> Step:
    """Moonxi's training step."""
    optimizer = mx.Sgd(
        lr=resnet_task.LEARNING_RATE,
        momentum=resnet_task.MOMENTUM,
        weight_decay=resnet_task.WEIGHT_DECAY,
        clip_norm=resnet_task.CLIP_NORM,
    )
    model, loss, key, number = side.model, side.loss, mx.Key(0), 0
    state = optimizer.init(model)
    value_and_grad: Any = mx.value_and_grad

    def update(model: Any, state: Any, batch: Any, key: mx.Key) -> Any:
        value, gradients = value_and_grad(loss, model, batch, mx.Train(key))
        return (*optimizer.update(model, gradients, state), value)

    if compiled:
        update = mx.compile(update)

    def step() -> Any:
        nonlocal model, state, number
        model, state, value = update(model, state, side.batches[number % len(side.batches)], key)
        number += 1
        return value

    return step


SYSTEMS: dict[str, Callable[[Task], Step | None]] = {
    "moonxi eager": lambda task: steps(task.own, compiled=False),
    "moonxi compiled": lambda task: steps(task.own, compiled=True),
    "PyTorch eager": lambda task: None if task.other is None else gpu_torch.eager(task.other()),
    "PyTorch compiled": lambda task: None if task.other is None else gpu_torch.compiled(task.other()),
    "PyTorch graph": lambda task: None if task.other is None else gpu_torch.graph(task.other()),
    "PyTorch graph of compiled": lambda task: None if task.other is None else gpu_torch.graph_of_compiled(task.other()),
}


def synchronize() -> None:
    """Wait for the device."""
    from cupy.cuda import runtime

    runtime.deviceSynchronize()


def timed(step: Step, count: int) -> float:
    """Milliseconds a step."""
    synchronize()
    start = perf_counter()
    for _ in range(count):
        step()
    synchronize()
    return (perf_counter() - start) * 1e3 / count


def prepared(systems: list[str], task: Task) -> Iterator[tuple[str, Step, list[float]]]:
    """Each system that works, warmed up, and its first losses."""
    for name in systems:
        try:
            step = SYSTEMS[name](task)
            if step is None:
                continue
            losses = [float(step().item()) for _ in range(4)]
            timed(step, 10)
        except Exception as error:  # a system that does not work here is left out, with its reason
            print(f"{name}: left out: {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        yield name, step, losses


def rows(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What each workload takes in each precision."""
    for workload in chosen.workloads:
        for precision in chosen.precisions:
            if find_spec("torch") is not None:
                torch: Any = import_module("torch")
                torch.backends.cudnn.benchmark = chosen.autotune
                torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
            task = WORKLOADS[workload](precision, autotune=chosen.autotune)
            found = list(prepared(chosen.systems, task))
            times = [[timed(step, COUNTS[workload]) for _, step, _ in found] for _ in range(chosen.rounds)]
            for (name, _, losses), column in zip(found, zip(*times, strict=True), strict=True):
                row = {
                    "workload": workload,
                    "precision": precision,
                    "system": name,
                    "ms_median": round(median(column), 4),
                    "ms_min": round(min(column), 4),
                    "ms_max": round(max(column), 4),
                    "losses": losses,
                }
                print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
                yield row


def versions() -> dict[str, str]:
    """Of what is measured."""
    import cupy

    found = {"moonxi": mx.__version__, "cupy": cupy.__version__, "numpy": np.__version__}
    if find_spec("torch") is not None:
        torch: Any = import_module("torch")
        found |= {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0)}
    if find_spec("cudnn") is not None:
        import cudnn

        found["cudnn"] = str(cudnn.backend_version())
    return found


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description="Time of a training step on the GPU, beside PyTorch.")
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--precisions", nargs="+", choices=list(PRECISIONS), default=list(PRECISIONS))
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--autotune", action="store_true", help="both try plans for each convolution first")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    chosen = parser.parse_args()
    found: dict[str, Any] = {"versions": versions(), "autotune": chosen.autotune, "rows": []}
    for row in rows(chosen):
        found["rows"].append(row)
        if chosen.json is not None:  # after each row: a run that is stopped has lost nothing
            chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
