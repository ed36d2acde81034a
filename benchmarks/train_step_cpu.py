"""Time of a whole training step on the CPU, eager and compiled: ``python -m benchmarks.train_step_cpu``.

python -m benchmarks.train_step_cpu --workload resnet18 --threads 1,2 --torch-python PATH --json FILE
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import mlp_task, resnet, resnet_task
from benchmarks.comparison import Comparison, System, measure, options, parsed, publish
from benchmarks.mlp import make_task
from moonxi.cli.bench.worker import WorkerError

_SYSTEMS = ("PyTorch eager", "moonxi eager")
REFERENCES = {mlp_task.GROUP: _SYSTEMS, resnet_task.GROUP: _SYSTEMS}
ROUNDS = {"mlp": (40, 50), "resnet18": (10, 3)}
"""Rounds, and training steps in each."""


def comparison(chosen: Namespace, task: str) -> Comparison:
    """What is measured, given the options and the file of the task."""
    small = chosen.workload == "mlp"
    model = "mlp" if small else "resnet"

    def own(module: str, *more: str) -> System:
        return System(sys.executable, f"benchmarks.{model}_{module}", (task, *more))

    def torch(*more: str, optional: bool = False) -> System:
        return System(chosen.torch_python, f"benchmarks.{model}_torch", (task, *more), optional)

    systems = [own("moonxi"), own("compiled")]
    if find_spec("numba") is not None:
        systems.append(own("compiled", "--numba"))
    if small:
        systems.append(own("numpy"))
    if chosen.torch_python is not None:
        systems += [torch(), torch("--fused" if small else "--fast"), torch("--compiled", optional=True)]
    return Comparison(
        f"A training step on the CPU, eager and compiled: {chosen.workload}",
        REFERENCES,
        systems,
        losses=20 if small else 2,
        tolerance=1e-4 if small else 1e-3,
        a_round=f"the median of {chosen.steps} training steps, of fewer if they take more than a second",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table and, if asked, write it."""
    parser = options("Time of a training step on the CPU, eager and compiled.", rounds=40, steps=50)
    parser.add_argument("--workload", choices=tuple(ROUNDS), default="mlp", help="what is trained (mlp)")
    parser.add_argument("--batch", type=int, default=128, metavar="N", help="images a step, for resnet18 (128)")
    parser.set_defaults(rounds=None, steps=None)
    parser.epilog = f"rounds and steps: {', '.join(f'{name} {a} and {b}' for name, (a, b) in ROUNDS.items())}"
    known, _ = parser.parse_known_args(arguments)
    rounds, steps = ROUNDS[known.workload]
    parser.set_defaults(rounds=rounds, steps=steps)
    chosen = parsed(parser, arguments, ("rounds", "steps", "batch"))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "task.npz"
        if chosen.workload == "mlp":
            make_task().save(file)
        else:
            resnet.make_task(chosen.batch).save(file)
        try:
            report = measure(comparison(chosen, str(file)), chosen)
        except WorkerError as error:
            sys.exit(f"train_step_cpu: {error}")
    publish(report, chosen.json)


if __name__ == "__main__":
    main()
