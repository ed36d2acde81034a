"""Time of a training step on the GPU, beside PyTorch and JAX in one process: ``python -m benchmarks.train_step``.

All start from the same weights and see the same batches, which are on the device; the losses of the first calls are
shown side by side (PyTorch's graphs have made four steps before them, a call that makes many shows its last). A time is
the median over rounds, in which the systems take turns, of the time of several steps between two synchronisations.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, cast, get_args

import numpy as np

import moonxi as mx
from benchmarks import gpu_jax, gpu_tasks, gpu_torch, resnet_task
from benchmarks.gpu_tasks import PRECISIONS, Side, Task
from benchmarks.gpu_torch import Step
from moonxi.compiled import Pass

WORKLOADS: dict[str, Callable[..., Task]] = {
    "mlp 64": gpu_tasks.mlp,
    "resnet18 128": lambda precision, **options: gpu_tasks.resnet(128, precision, **options),
    "resnet18 1024": lambda precision, **options: gpu_tasks.resnet(1024, precision, **options),
}
NO_PASSES: tuple[Pass, ...] = get_args(Pass.__value__)
"""What `moonxi replay` leaves out: it records the operations as the eager step calls them."""
ON_DEVICE: tuple[Pass, ...] = (
    *("biases_before_norms", "common_subexpressions", "constant_folding", "dead_code", "identities", "relu_masks"),
    *("softmax_rules", "normalisations", "fusion", "waves", "tuned_plans", "branches"),
)
"""The passes that change what a GPU does."""
COUNTS = {"mlp 64": 100, "resnet18 128": 10, "resnet18 1024": 10}
"""Steps between two synchronisations."""


MANY = 100
"""Steps at one call, of the systems that make so many."""


def update_of(side: Side) -> Any:
    """Moonxi's training step, and the optimizer's first state."""
    optimizer = mx.Sgd(
        lr=resnet_task.LEARNING_RATE,
        momentum=resnet_task.MOMENTUM,
        weight_decay=resnet_task.WEIGHT_DECAY,
        clip_norm=resnet_task.CLIP_NORM,
    )
    loss, value_and_grad = side.loss, cast(Any, mx.value_and_grad)

    def update(model: Any, state: Any, batch: Any, key: mx.Key) -> Any:
        value, gradients = value_and_grad(loss, model, batch, mx.Train(key))
        return (*optimizer.update(model, gradients, state), value)

    return update, optimizer.init(side.model)


def steps(side: Side, *, compiled: bool, without: tuple[Pass, ...] = ()) -> Step:
    """A step at a call: one operation after the other, or compiled, without these passes."""
    update, state = update_of(side)
    return _stepping(side, mx.compile(update, without=without) if compiled else update, state)


def _stepping(side: Side, update: Any, state: Any) -> Step:
    model, batches, key, number = side.model, side.batches, mx.Key(0), 0

    def step() -> Any:
        nonlocal model, state, number
        model, state, value = update(model, state, batches[number % len(batches)], key)
        number += 1
        return value

    return step


def repeated(task: Task) -> Step | None:
    """Many steps at a call; None for images, of which there are few batches to save memory."""
    arrays, side = task.arrays, task.own()
    if isinstance(arrays, resnet_task.Task):
        return None
    on = side.batches[0].x
    chosen = np.arange(MANY) % len(arrays.images)
    images, labels = arrays.images[chosen], arrays.labels[chosen]
    data: Any = mx.Labelled(on.from_host(images.reshape(-1, images.shape[-1])), on.labels(labels.ravel()))
    update, state = update_of(side)
    many, model = mx.repeat(update, MANY), side.model

    def step() -> Any:
        nonlocal model, state
        model, state, value = many(model, state, data, mx.Key(0))
        return value

    return step


def torch_s(make: Callable[[Side], Step]) -> Callable[[Task], Step | None]:
    """The system, where there is PyTorch."""
    return lambda task: None if task.other is None else make(task.other())


def jax_s(make: Callable[[Task], Step | None]) -> Callable[[Task], Step | None]:
    """The system, where there is JAX."""
    return lambda task: None if find_spec("jax") is None else make(task)


def jax_scan(task: Task) -> Step | None:
    """Many steps at a call, of the small model."""
    return gpu_jax.scan(task.arrays, task.precision, MANY) if task.arrays.images.ndim == 3 else None


SYSTEMS: dict[str, Callable[[Task], Step | None]] = {
    "moonxi eager": lambda task: steps(task.own(), compiled=False),
    "moonxi replay": lambda task: steps(task.own(), compiled=True, without=NO_PASSES),
    "moonxi compiled": lambda task: steps(task.own(), compiled=True),
    "moonxi repeat": repeated,
    "PyTorch eager": torch_s(gpu_torch.eager),
    "PyTorch compiled": torch_s(gpu_torch.compiled),
    "PyTorch graph": torch_s(gpu_torch.graph),
    "PyTorch graph of compiled": torch_s(gpu_torch.graph_of_compiled),
    "JAX jit": jax_s(lambda task: gpu_jax.step(task.arrays, task.precision)),
    "JAX scan": jax_s(jax_scan),
}


def without(one: Pass) -> Callable[[Task], Step | None]:
    """A system: compiled steps without this pass."""
    return lambda task: steps(task.own(), compiled=True, without=(one,))


WITHOUT = {f"moonxi without {one}": without(one) for one in ON_DEVICE}
"""Compiled steps, each without one pass."""
AT_ONCE = {"moonxi repeat": MANY, "JAX scan": MANY}
"""Steps at a call, where they are many."""


def synchronize(value: Any = None) -> None:
    """Wait for the device, and for JAX, which may not have given it everything that leads to the value."""
    from cupy.cuda import runtime

    jax: Any = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.Array):
        value.block_until_ready()
    runtime.deviceSynchronize()


def free_bytes() -> int:
    """Memory of the device that nobody has."""
    from cupy.cuda import runtime

    free: int = runtime.memGetInfo()[0]
    return free


def timed(step: Step, count: int, at_once: int = 1) -> float:
    """Milliseconds a step."""
    calls, value = max(1, count // at_once), None
    synchronize()
    start = perf_counter()
    for _ in range(calls):
        value = step()
    synchronize(value)
    return (perf_counter() - start) * 1e3 / (calls * at_once)


def prepared(systems: list[str], task: Task) -> Iterator[tuple[str, Step, list[float]]]:
    """Each system that works, warmed up, and its first losses."""
    for name in systems:
        try:
            step = (SYSTEMS | WITHOUT)[name](task)
            if step is None:
                continue
            losses = [float(step().item()) for _ in range(4)]
            timed(step, 10, AT_ONCE.get(name, 1))
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
            free = free_bytes()
            task = WORKLOADS[workload](precision, autotune=chosen.autotune)
            if not chosen.systems[0].startswith("moonxi"):  # others have a model and batches of their own
                free = free_bytes()
            found = list(prepared(chosen.systems, task))
            count, calls = COUNTS[workload], [(step, AT_ONCE.get(name, 1)) for name, step, _ in found]
            times = [[timed(step, count, at_once) for step, at_once in calls] for _ in range(chosen.rounds)]
            taken = (free - free_bytes()) / 2**20
            for (name, _, losses), column in zip(found, zip(*times, strict=True), strict=True):
                row = {
                    "workload": workload,
                    "precision": precision,
                    "system": name,
                    "ms_median": round(median(column), 4),
                    "ms_min": round(min(column), 4),
                    "ms_max": round(max(column), 4),
                    "steps_at_a_call": AT_ONCE.get(name, 1),
                    "losses": losses,
                } | ({"memory_mib": round(taken)} if chosen.memory else {})
                print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
                yield row


def versions() -> dict[str, str]:
    """Of what is measured."""
    import cupy

    found = {"moonxi": mx.__version__, "cupy": cupy.__version__, "numpy": np.__version__}
    if find_spec("torch") is not None:
        torch: Any = import_module("torch")
        found |= {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0)}
    if find_spec("jax") is not None:
        found["jax"] = str(import_module("jax").__version__)
    if find_spec("cudnn") is not None:
        import cudnn

        found["cudnn"] = str(cudnn.backend_version())
    return found


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description="Time of a training step on the GPU, beside PyTorch.")
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--precisions", nargs="+", choices=list(PRECISIONS), default=list(PRECISIONS))
    parser.add_argument("--systems", nargs="+", choices=[*SYSTEMS, *WITHOUT], default=list(SYSTEMS))
    parser.add_argument("--passes", action="store_true", help="compiled steps, and those without each pass by itself")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--autotune", action="store_true", help="both try plans for each convolution first")
    parser.add_argument(
        "--memory",
        action="store_true",
        help="also the memory of the device that a system has taken by then: give one system, workload and precision",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    chosen = parser.parse_args()
    if chosen.passes:
        chosen.systems = ["moonxi compiled", *WITHOUT]
    if chosen.memory and max(map(len, (chosen.systems, chosen.workloads, chosen.precisions))) > 1:
        parser.error("--memory: what a process has taken is that of one system, workload and precision")
    found: dict[str, Any] = {"versions": versions(), "autotune": chosen.autotune, "rows": []}
    for row in rows(chosen):
        found["rows"].append(row)
        if chosen.json is not None:  # after each row: a run that is stopped has lost nothing
            chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
