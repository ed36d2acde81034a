"""Time of a whole training step on the CPU, eager and compiled: ``python -m benchmarks.train_step_cpu``.

python -m benchmarks.train_step_cpu --threads 1 --torch-python PATH --json benchmarks/results/train_step_cpu.json
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import mlp_task
from benchmarks.comparison import Comparison, System, measure, options, parsed, publish
from benchmarks.mlp import make_task
from benchmarks.worker import WorkerError

REFERENCES = {mlp_task.GROUP: ("PyTorch eager", "moonxi eager")}


def comparison(chosen: Namespace, task: str) -> Comparison:
    """What is measured, given the options and the file of the task."""
    modules = "benchmarks.mlp_moonxi", "benchmarks.mlp_compiled", "benchmarks.mlp_numpy"
    systems = [System(sys.executable, module, (task,)) for module in modules]
    if chosen.torch_python is not None:
        systems += [System(chosen.torch_python, "benchmarks.mlp_torch", (task, *more)) for more in ((), ("--fused",))]
    return Comparison(
        "A training step on the CPU, eager and compiled",
        REFERENCES,
        systems,
        losses=20,
        tolerance=1e-4,
        a_round=f"the median of {chosen.steps} training steps",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table and, if asked, write it."""
    parser = options("Time of a training step of an MLP, eager and compiled.", rounds=40, steps=50)
    chosen = parsed(parser, arguments, ("rounds", "steps"))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "task.npz"
        make_task().save(file)
        try:
            report = measure(comparison(chosen, str(file)), chosen)
        except WorkerError as error:
            sys.exit(f"train_step_cpu: {error}")
    publish(report, chosen.json)


if __name__ == "__main__":
    main()
