"""Time of a training step of an MLP, of single operations and of a layer's call: ``make benchmark-mlp``.

    make benchmark-mlp ARGS="--torch-python PATH --json benchmarks/results/mlp.json"

Every system runs in a process of its own for each number of threads. They are measured in turns, a few milliseconds
each, in many rounds that go there and back, so that a ratio compares what was measured within the same second.
"""

import argparse
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import moonxi as mx
from benchmarks import machine, mlp_task, operations
from benchmarks.mlp_task import Task
from benchmarks.report import Report, Row, Spread
from benchmarks.worker import Worker, WorkerError
from moonxi.nn import initializers

# To which of the systems that were measured the others of a group are compared: the first one that is there.
REFERENCES = {
    mlp_task.GROUP: ("PyTorch eager", "NumPy by hand"),
    operations.OPERATIONS: ("NumPy",),
    operations.LAYER: ("unchecked",),
}
LOSSES = 20
# Seconds. OpenBLAS keeps its idle threads spinning for 0.1 s after their last work, at the expense of who comes next.
PAUSE = 0.15
BUSY = "other work kept the machine busy; then the times at several threads say nothing, and the others are too long"

type Samples = dict[tuple[str, str, int], dict[str, list[float]]]
"""For a group, workload and number of threads: the milliseconds of each system, one number a round."""


def make_task(batches: int = 32) -> Task:
    """Xavier-uniform weights, and the first digits that moonxi ships."""
    cpu = mx.numpy()
    keys = mx.Key(0).split(len(mlp_task.LAYERS))
    weights = [initializers.xavier_uniform(cpu, s, key) for s, key in zip(mlp_task.LAYERS, keys, strict=True)]
    digits = mx.data.mnist(cpu).train.batch(np.arange(batches * mlp_task.BATCH))
    return Task(
        [weight.to_host().astype(np.float32) for weight in weights],
        digits.x.to_host().astype(np.float32).reshape(batches, mlp_task.BATCH, -1),
        digits.labels.to_host().astype(np.int64).reshape(batches, mlp_task.BATCH),
    )


def disagreement(losses: dict[str, list[float]], /) -> str | None:
    """What is wrong if the losses of the first steps are not those of the first system up to rounding."""
    (first, expected), *others = losses.items()
    for system, found in others:
        for step, (one, other) in enumerate(zip(expected, found, strict=True)):
            if not abs(one - other) <= 1e-4 * abs(one):
                return (
                    f"the systems do not train the same: loss at step {step}: {one} with {first}, {other} with {system}"
                )
    return None


def measure(options: argparse.Namespace) -> Report:
    """Start the workers, compare what they compute, and let them take turns."""
    started = datetime.now(UTC)
    load_before = machine.load()
    samples: Samples = defaultdict(lambda: defaultdict(list))
    versions: dict[str, str] = {}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "task.npz"
        make_task().save(file)
        here = sys.executable
        systems: list[tuple[str, ...]] = [(here, "benchmarks.mlp_moonxi"), (here, "benchmarks.mlp_numpy")]
        if options.torch_python is not None:
            systems += [(options.torch_python, "benchmarks.mlp_torch", *more) for more in ((), ("--fused",))]
        turns: list[tuple[Worker, int, int]] = []
        for threads in options.threads:
            losses = {}
            for python, module, *more in systems:
                worker = stack.enter_context(Worker(python, module, str(file), *more, threads=threads))
                versions |= worker.ask("versions")
                losses[" ".join([module, *more])] = worker.ask("losses", LOSSES)
                turns.append((worker, threads, options.steps))
            if wrong := disagreement(losses):
                sys.exit(wrong)
            worker = stack.enter_context(Worker(here, "benchmarks.operations", threads=threads))
            turns.append((worker, threads, options.calls))
        for number in range(options.rounds + 1):
            for worker, threads, repetitions in turns if number % 2 else reversed(turns):
                time.sleep(PAUSE)
                found: list[dict[str, Any]] = worker.ask("measure", repetitions)
                if number:  # the first round warms up
                    for one in found:
                        samples[one["group"], one["workload"], threads][one["system"]].append(one["ms"])
    cores = os.cpu_count() or 1
    busy = load_before is not None and load_before > 0.25 * cores
    return Report(
        "MLP: a training step, single operations, a layer's call",
        {
            "date": started.strftime("%Y-%m-%d %H:%M UTC"),
            "cpu": f"{machine.cpu()}, {cores} cores",
            "load average": {"before": load_before, "after": machine.load()},
            **({"caution": BUSY} if busy else {}),
            "versions": {"moonxi": mx.__version__, **versions},
            "rounds": options.rounds,
            "a round": f"the medians of {options.steps} training steps and of {options.calls} calls",
        },
        rows(samples),
    )


def rows(samples: Samples) -> list[Row]:
    """The spreads of all samples, and of the ratios within each round."""
    found = []
    for group in REFERENCES:
        for (own, workload, threads), times in samples.items():
            if own != group:
                continue
            reference = next(system for system in REFERENCES[group] if system in times)
            for system, values in times.items():
                ratios = [value / base for value, base in zip(values, times[reference], strict=True)]
                found.append(Row(group, workload, threads, system, Spread.of(values), reference, Spread.of(ratios)))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the tables and, if asked, write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--torch-python", metavar="PATH", help="an interpreter (3.10 or newer) that has PyTorch and NumPy"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write FILE, and the tables beside it as FILE's name.md"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="thread counts (1 2)")
    parser.add_argument("--rounds", type=int, default=40, metavar="N", help="rounds (40)")
    parser.add_argument("--steps", type=int, default=50, metavar="N", help="training steps a round (50)")
    parser.add_argument("--calls", type=int, default=200, metavar="N", help="calls of an operation a round (200)")
    options = parser.parse_args(arguments)
    if options.torch_python is not None:
        found = shutil.which(options.torch_python)
        if found is None:
            parser.error(f"--torch-python {options.torch_python}: there is no such program")
        options.torch_python = os.path.abspath(found)  # links stay: an environment's python is one
    if min(*options.threads, options.rounds, options.steps, options.calls) < 1:
        parser.error("--threads, --rounds, --steps and --calls are at least 1")
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)  # what fails here fails before the minutes of measuring
    try:
        report = measure(options)
    except WorkerError as error:
        sys.exit(f"benchmark-mlp: {error}")
    print(report.markdown(), end="")
    if options.json is not None:
        options.json.write_text(report.json())
        options.json.with_suffix(".md").write_text(report.markdown())


if __name__ == "__main__":
    main()
