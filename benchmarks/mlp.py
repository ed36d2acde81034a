"""Time of a training step of an MLP, of single operations and of a layer's call: ``make benchmark-mlp``.

make benchmark-mlp ARGS="--torch-python PATH --json benchmarks/results/mlp.json"
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import moonxi as mx
from benchmarks import mlp_task, operations
from benchmarks.comparison import Comparison, System, measure, options, parsed, publish
from benchmarks.mlp_task import Task
from moonxi.cli.bench.worker import WorkerError
from moonxi.nn import initializers

REFERENCES = {
    mlp_task.GROUP: ("PyTorch eager", "NumPy by hand"),
    operations.OPERATIONS: ("NumPy",),
    operations.LAYER: ("unchecked",),
}


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


def comparison(chosen: argparse.Namespace, task: str) -> Comparison:
    """What is measured, given the options and the file of the task."""
    here = sys.executable
    systems = [System(here, "benchmarks.mlp_moonxi", (task,)), System(here, "benchmarks.mlp_numpy", (task,))]
    if chosen.torch_python is not None:
        systems += [System(chosen.torch_python, "benchmarks.mlp_torch", (task, *more)) for more in ((), ("--fused",))]
    return Comparison(
        "MLP: a training step, single operations, a layer's call",
        REFERENCES,
        systems,
        losses=20,
        tolerance=1e-4,
        a_round=f"the medians of {chosen.steps} training steps and of {chosen.calls} calls",
        others=[(System(here, "benchmarks.operations"), chosen.calls)],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the tables and, if asked, write them."""
    parser = options("Time of a training step of an MLP, and of single operations.", rounds=40, steps=50)
    parser.add_argument("--calls", type=int, default=200, metavar="N", help="calls of an operation a round (200)")
    chosen = parsed(parser, arguments, ("rounds", "steps", "calls"))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "task.npz"
        make_task().save(file)
        try:
            report = measure(comparison(chosen, str(file)), chosen)
        except WorkerError as error:
            sys.exit(f"benchmark-mlp: {error}")
    publish(report, chosen.json)


if __name__ == "__main__":
    main()
