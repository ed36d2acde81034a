"""moonxi and PyTorch side by side, from the same weights through whole epochs.

python -m benchmarks.compare_training mnist --data DIR --torch-python PATH --out benchmarks/results/training-mnist
python -m benchmarks.compare_training cifar10 --data DIR --gpu --precision bf16 --seeds 3 --torch-python PATH

Writes ``log.txt``, ``epochs.csv``, ``curves.svg`` (and ``.png``) and ``summary.md`` into the folder OUT.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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

PRECISIONS = {
    "fp32": "yes, products in single precision",
    "bf16": "yes, both passes in bf16 (PyTorch: autocast), weights and updates in fp32",
}


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
    systems: Sequence[System], tasks: dict[int, str], epochs: int, threads: int, log: "Log", *, pause: float = PAUSE
) -> tuple[list[Epoch], dict[str, str]]:
    """Every epoch of every system, and the versions; the systems take turns, every other epoch in reverse.

    ``tasks`` has a file for each seed. At its turn a system trains with all seeds at a time, each in a process."""
    found: list[Epoch] = []
    versions: dict[str, str] = {"moonxi": mx.__version__}
    with ExitStack() as stack:
        workers = [
            {
                seed: stack.enter_context(Worker(one.python, one.module, task, *one.options, threads=threads))
                for seed, task in tasks.items()
            }
            for one in systems
        ]
        pool = stack.enter_context(ThreadPoolExecutor(len(tasks)))
        for group in workers:
            versions |= next(iter(group.values())).ask("versions")
        for number in range(epochs):
            for group in workers if number % 2 == 0 else reversed(workers):
                time.sleep(pause)
                answers = pool.map(lambda worker, number=number: worker.ask("epoch", number), group.values())
                for seed, answer in zip(group, answers, strict=True):
                    epoch: Epoch = {"seed": seed, **answer}
                    found.append(epoch)
                    log.line(
                        f"epoch {epoch['epoch']}/{epochs}  {epoch['system']:<15}  seed {seed}  "
                        f"loss {epoch['train_loss']:.4f}  accuracy {epoch['train_accuracy']:.4f}  |  "
                        f"test loss {epoch['test_loss']:.4f}  accuracy {epoch['test_accuracy']:.4f}  |  "
                        f"{epoch['train_seconds']:.2f} s + {epoch['test_seconds']:.2f} s"
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
    parser.add_argument("--seed", type=int, default=0, help="the first one (0)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="so many, at a time (1)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="1")
    parser.add_argument("--gpu", action="store_true", help="on an NVIDIA GPU, all of them")
    parser.add_argument(
        "--precision", choices=PRECISIONS, default="fp32", help="of the passes, weights stay in fp32; others need --gpu"
    )
    parser.add_argument("--without-eager", action="store_true", help="of moonxi compiled steps only")
    chosen = parser.parse_args(arguments)
    if min(chosen.epochs, chosen.threads, chosen.seeds, 1 if chosen.limit is None else chosen.limit) < 1:
        parser.error("--epochs, --seeds, --threads and --limit are at least 1")
    if chosen.precision != "fp32" and not chosen.gpu:
        parser.error(f"--precision {chosen.precision}: the CPU computes in fp32; add --gpu")
    if chosen.task == "cifar10" and chosen.data is None:
        parser.error("cifar10: name its folder or archive with --data")
    out: Path = chosen.out or Path("runs") / f"compare-{chosen.task}"
    out.mkdir(parents=True, exist_ok=True)

    gpu = ("--gpu", f"--{chosen.precision}") if chosen.gpu else ()
    forms = (("--compile", *gpu),) if chosen.without_eager else (gpu, ("--compile", *gpu))
    systems = [System(sys.executable, "benchmarks.training_moonxi", options) for options in forms]
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
        with TemporaryDirectory() as folder:
            seeds = range(chosen.seed, chosen.seed + chosen.seeds)
            tasks = [task_of(settings, data, chosen.epochs, seed, chosen.limit) for seed in seeds]
            files = {seed: str(Path(folder) / f"task-{seed}.npz") for seed in seeds}
            for task, file in zip(tasks, files.values(), strict=True):
                task.save(Path(file))
            pause = 0.0 if chosen.gpu else PAUSE
            epochs, versions = trained(systems, files, chosen.epochs, chosen.threads, log, pause=pause)
    except (WorkerError, MoonxiError) as error:
        sys.exit(f"compare_training: {error}")
    busy = load is not None and load > 0.25 * (os.cpu_count() or 1)
    circumstances = {
        "date": started.strftime("%Y-%m-%d %H:%M UTC"),
        "images": f"{len(tasks[0].train.labels):,} to learn from, {len(tasks[0].test.labels):,} to be tested on",
        "settings": ", ".join(f"{name} {value}" for name, value in vars(settings).items()),
        "cpu": f"{machine.cpu()}, {os.cpu_count()} cores, {chosen.threads} thread(s)",
        "gpu": PRECISIONS[chosen.precision] if chosen.gpu else "no",
        "seeds": f"{', '.join(map(str, seeds))}{' at a time' if len(seeds) > 1 else ''}",
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
