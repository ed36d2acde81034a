"""Time of a training step of ResNet-18: ``make benchmark-resnet``.

make benchmark-resnet ARGS="--torch-python PATH --json benchmarks/results/resnet.json"
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import moonxi as mx
from benchmarks import resnet_task
from benchmarks.comparison import Comparison, System, measure, options, parsed, publish
from benchmarks.resnet_task import Task
from moonxi.cli.bench.worker import WorkerError
from moonxi.nn.models import ResNet18
from moonxi.nn.models.torchvision import torchvision_name

REFERENCES = {resnet_task.GROUP: ("PyTorch eager", "moonxi eager")}


def make_task(batch: int, batches: int = 4) -> Task:
    """The weights with which moonxi starts, and normal noise for images."""
    cpu = mx.numpy()
    named = ResNet18.init(like=cpu, key=mx.Key(0)).named_parameters()
    weights = {torchvision_name(name): parameter.to_host().astype(np.float32) for name, parameter in named.items()}
    weights["fc.weight"] = np.ascontiguousarray(weights["fc.weight"].T)
    images = cpu.normal((batches, batch, 3, 32, 32), mx.Key(1)).to_host().astype(np.float32)
    labels = np.arange(batches * batch).reshape(batches, batch) % 10
    return Task({name: np.ascontiguousarray(weight) for name, weight in weights.items()}, images, labels)


def comparison(chosen: argparse.Namespace, task: str) -> Comparison:
    """What is measured, given the options and the file of the task."""
    systems = [System(sys.executable, "benchmarks.resnet_moonxi", (task,))]
    if chosen.torch_python is not None:
        systems += [System(chosen.torch_python, "benchmarks.resnet_torch", (task, *more)) for more in ((), ("--fast",))]
    return Comparison(
        f"ResNet-18: a training step at batch {chosen.batch}",
        REFERENCES,
        systems,
        losses=2,  # from the third on PyTorch's own differ by 0.2 % between one thread and two
        tolerance=1e-3,
        a_round=f"the median of {chosen.steps} training steps, of fewer if they take more than a second",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the tables and, if asked, write them."""
    parser = options("Time of a training step of ResNet-18.", rounds=12, steps=3)
    parser.add_argument("--batch", type=int, default=128, metavar="N", help="images a step (128)")
    chosen = parsed(parser, arguments, ("rounds", "steps", "batch"))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "task.npz"
        make_task(chosen.batch).save(file)
        try:
            report = measure(comparison(chosen, str(file)), chosen)
        except WorkerError as error:
            sys.exit(f"benchmark-resnet: {error}")
    publish(report, chosen.json)


if __name__ == "__main__":
    main()
