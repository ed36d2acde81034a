"""moonxi and PyTorch side by side, from the same weights through whole epochs.

python -m benchmarks.compare_training mnist --data DIR --torch-python PATH --out benchmarks/results/training-mnist

Writes ``log.txt``, ``epochs.csv``, ``curves.svg`` (and ``.png``) and ``summary.md`` into the folder OUT.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import moonxi as mx
from benchmarks import machine
from benchmarks.comparison import BUSY, PAUSE, found_python
from benchmarks.training_report import Epoch, draw, summary, table
from benchmarks.training_task import CIFAR10, MNIST, Settings, Split, Task
from benchmarks.worker import Worker, WorkerError
from moonxi.data import DataLoader, LabelledArrays, TrainTest, cifar10, mnist
from moonxi.errors import MoonxiError
from moonxi.nn.initializers import xavier_uniform
from moonxi.nn.models import ResNet18
from moonxi.nn.models.torchvision import torchvision_name

type Host = mx.NpArray[mx.F32]


@dataclass(frozen=True)
class System:
    """A worker, by which Python and with which options."""

    python: str
    module: str
    options: tuple[str, ...] = ()


def task_of(settings: Settings, data: TrainTest[Host], epochs: int, seed: int, limit: int | None) -> Task:
    """With ``limit`` as many training images, drawn at random; the order of each epoch is that of a `DataLoader`."""
    train, test = data.train, data.test
    if limit is not None and limit < len(train):  # image folders are in the order of the classes
        train, test = train.split(limit, seed=seed)[0], test.split(max(1, limit // 5), seed=seed)[0]
    learnt, judged = _split(train), _split(test)
    positions = mx.data.PairedArrays(mx.numpy(), np.zeros((len(train), 1)), np.zeros((len(train), 1)))
    loader = DataLoader(positions, batch_size=settings.batch, seed=seed)
    orders = np.stack([loader.order(epoch) for epoch in range(epochs)])
    weights = mlp_weights(seed) if settings.model == "mnist" else resnet_weights(seed)
    return Task(settings, learnt, judged, orders, weights)


def _split(images: LabelledArrays[Host]) -> Split:
    batch = images.batch(np.arange(len(images)))
    # The pixels are k/255 in single precision, so that this gives k again, exactly.
    pixels = np.rint(batch.x.to_host() * 255.0).astype(np.uint8)
    return Split(pixels, batch.labels.to_host().astype(np.int64))


def mlp_weights(seed: int) -> dict[str, NDArray[np.float32]]:
    """Of the network for digits, by the names of PyTorch."""
    like, sizes = mx.numpy(), {"first": (784, 128), "second": (128, 64), "third": (64, 10)}
    weights: dict[str, NDArray[np.float32]] = {}
    for (name, size), key in zip(sizes.items(), mx.Key(seed).split(3), strict=True):
        weights[f"{name}.weight"] = xavier_uniform(like, size, key).to_host().T.astype(np.float32)
        weights[f"{name}.bias"] = np.zeros(size[1], np.float32)
    return weights


def resnet_weights(seed: int) -> dict[str, NDArray[np.float32]]:
    """Of ResNet-18, by the names of torchvision."""
    model = ResNet18.init(like=mx.numpy(), key=mx.Key(seed))
    weights = {torchvision_name(name): one.to_host() for name, one in model.named_parameters().items()}
    return {name: (one.T if name == "fc.weight" else one).astype(np.float32) for name, one in weights.items()}


def trained(
    systems: Sequence[System], task: str, epochs: int, threads: int, log: "Log"
) -> tuple[list[Epoch], dict[str, str]]:
    """Every epoch of every system, and the versions; the systems take turns, every other epoch in reverse."""
    found: list[Epoch] = []
    versions: dict[str, str] = {"moonxi": mx.__version__}
    with ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(one.python, one.module, task, *one.options, threads=threads)) for one in systems
        ]
        for worker in workers:
            versions |= worker.ask("versions")
        for number in range(epochs):
            for worker in workers if number % 2 == 0 else reversed(workers):
                time.sleep(PAUSE)
                epoch: Epoch = worker.ask("epoch", number)
                found.append(epoch)
                log.line(
                    f"epoch {epoch['epoch']}/{epochs}  {epoch['system']:<15}  loss {epoch['train_loss']:.4f}  "
                    f"accuracy {epoch['train_accuracy']:.4f}  |  test loss {epoch['test_loss']:.4f}  accuracy "
                    f"{epoch['test_accuracy']:.4f}  |  {epoch['train_seconds']:.2f} s + {epoch['test_seconds']:.2f} s"
                )
    return found, versions


class Log:
    """Lines that are printed and kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        print(text, flush=True)
        self.lines.append(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and write what came out."""
    parser = argparse.ArgumentParser(description="Train moonxi and PyTorch side by side.")
    parser.add_argument("task", choices=("mnist", "cifar10"))
    parser.add_argument("--data", metavar="DIR", help="its folder (mnist: default the subset that moonxi ships)")
    parser.add_argument(
        "--torch-python", metavar="PATH", help="an interpreter (3.10 or newer) that has PyTorch and NumPy"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: runs/compare-TASK")
    parser.add_argument("--epochs", type=int, default=10, metavar="N", help="10")
    parser.add_argument("--limit", type=int, metavar="N", help="learn from N of the images, test on N/5")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="1")
    parser.add_argument("--gpu", action="store_true", help="on an NVIDIA GPU, both")
    chosen = parser.parse_args(arguments)
    if min(chosen.epochs, chosen.threads, 1 if chosen.limit is None else chosen.limit) < 1:
        parser.error("--epochs, --threads and --limit are at least 1")
    if chosen.task == "cifar10" and chosen.data is None:
        parser.error("cifar10: name its folder or archive with --data")
    out: Path = chosen.out or Path("runs") / f"compare-{chosen.task}"
    out.mkdir(parents=True, exist_ok=True)

    gpu = ("--gpu",) if chosen.gpu else ()
    systems = [System(sys.executable, "benchmarks.training_moonxi", options) for options in (gpu, ("--compile", *gpu))]
    if chosen.torch_python is not None:
        systems.append(System(found_python(parser, chosen.torch_python), "benchmarks.training_torch", gpu))
    started, load = datetime.now(UTC), machine.load()
    log = Log()
    try:
        if chosen.gpu:
            mx.gpu()  # whatever is missing is said now
        if chosen.task == "mnist":
            data, settings = mnist(mx.numpy(), folder=chosen.data), MNIST
        else:
            data, settings = cifar10(mx.numpy(), folder=chosen.data), CIFAR10
        task = task_of(settings, data, chosen.epochs, chosen.seed, chosen.limit)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "task.npz"
            task.save(file)
            epochs, versions = trained(systems, str(file), chosen.epochs, chosen.threads, log)
    except (WorkerError, MoonxiError) as error:
        sys.exit(f"compare_training: {error}")
    busy = load is not None and load > 0.25 * (os.cpu_count() or 1)
    circumstances = {
        "date": started.strftime("%Y-%m-%d %H:%M UTC"),
        "images": f"{len(task.train.labels):,} to learn from, {len(task.test.labels):,} to be tested on",
        "settings": ", ".join(f"{name} {value}" for name, value in vars(settings).items()),
        "cpu": f"{machine.cpu()}, {os.cpu_count()} cores, {chosen.threads} thread(s)",
        "gpu": "yes, products in single precision" if chosen.gpu else "no",
        "load average": f"{load} before, {machine.load()} after",
        **({"caution": BUSY} if busy else {}),
        "versions": ", ".join(f"{name} {value}" for name, value in versions.items()),
    }
    (out / "log.txt").write_text("\n".join([*log.lines, ""]), encoding="utf-8")
    (out / "epochs.csv").write_text(table(epochs), encoding="utf-8")
    draw(epochs, out / "curves.svg")
    text = summary(settings, epochs, circumstances)
    (out / "summary.md").write_text(text, encoding="utf-8")
    print(f"\n{text}")


if __name__ == "__main__":
    main()
