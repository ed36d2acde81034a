"""moonxi and PyTorch side by side, from the same weights through whole epochs.

python -m benchmarks.compare_training mnist --data DIR --torch-python PATH --out benchmarks/results/training-mnist
python -m benchmarks.compare_training cifar10 --data DIR --gpu --precision bf16 --seeds 3 --torch-python PATH

Writes ``log.txt``, ``epochs.csv``, ``curves.svg`` (and ``.png``) and ``summary.md`` into the folder OUT: after every
epoch, each file whole, so that a run that is stopped leaves the report of the epochs before.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

import moonxi as mx
from benchmarks import machine
from benchmarks.comparison import BUSY, PAUSE, Worker, found_python
from benchmarks.training_report import Epoch, line, write
from benchmarks.training_task import CIFAR10, MNIST, Settings, Split, Task
from moonxi.cli.bench.worker import WorkerError
from moonxi.data import DataLoader, LabelledArrays, TrainTest, cifar10, mnist
from moonxi.errors import MoonxiError
from moonxi.nn.initializers import xavier_uniform
from moonxi.nn.models import ResNet18
from moonxi.nn.models.torchvision import torchvision_name
from moonxi.whole_file import reason, try_writing

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
    systems: Sequence[System],
    tasks: Mapping[int, str],
    epochs: int,
    threads: int,
    keep: Callable[[Sequence[Epoch], dict[str, str]], None],
    *,
    pause: float = PAUSE,
) -> None:
    """Train all of them. The systems take turns, an epoch each, every other epoch in reverse.

    ``tasks`` has a file for each seed. At its turn a system trains with all seeds at a time, each in a process. After
    each epoch ``keep`` gets those of all systems so far, and the versions."""
    found: list[Epoch] = []
    versions: dict[str, str] = {"moonxi": mx.__version__}
    with ExitStack() as stack:
        # Its threads wait for the workers, which therefore have to end before it: they are entered later.
        pool = stack.enter_context(ThreadPoolExecutor(len(tasks)))
        workers = [
            {
                seed: stack.enter_context(Worker(one.python, one.module, task, *one.options, threads=threads))
                for seed, task in tasks.items()
            }
            for one in systems
        ]
        for group in workers:
            versions |= next(iter(group.values())).ask("versions")
        for number in range(epochs):
            for group in workers if number % 2 == 0 else reversed(workers):
                time.sleep(pause)
                answers = pool.map(lambda worker, number=number: worker.ask("epoch", number), group.values())
                for seed, answer in zip(group, answers, strict=True):
                    found.append({"seed": seed, **answer})
                    print(line(found[-1], epochs), flush=True)
            keep(found, versions)


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
    try:
        out.mkdir(parents=True, exist_ok=True)
        try_writing(out / "summary.md")
    except OSError as error:
        parser.error(f"--out {out}: cannot be written: {reason(error)}")

    gpu = ("--gpu", f"--{chosen.precision}") if chosen.gpu else ()
    forms = (("--compile", *gpu),) if chosen.without_eager else (gpu, ("--compile", *gpu))
    systems = [System(sys.executable, "benchmarks.training_moonxi", options) for options in forms]
    if chosen.torch_python is not None:
        systems.append(System(found_python(parser, chosen.torch_python), "benchmarks.training_torch", gpu))
    try:
        if chosen.gpu:
            mx.gpu()  # whatever is missing is said now
        compare(chosen, systems, out)
    except (WorkerError, MoonxiError) as error:
        sys.exit(f"compare_training: {error}")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def _stop(number: int, _: object) -> NoReturn:
    """End as after an error: with the workers, and without their files."""
    sys.exit(128 + number)


def compare(chosen: argparse.Namespace, systems: Sequence[System], out: Path) -> None:
    """Train as it was chosen, and print the summary."""
    started, load = datetime.now(UTC), machine.load()
    if chosen.task == "mnist":
        data, settings = mnist(mx.numpy(), folder=chosen.data), MNIST
    else:
        data, settings = cifar10(mx.numpy(), folder=chosen.data), CIFAR10
    seeds = range(chosen.seed, chosen.seed + chosen.seeds)
    tasks = {seed: task_of(settings, data, chosen.epochs, seed, chosen.limit) for seed in seeds}
    learnt, tested = (len(split.labels) for split in (tasks[chosen.seed].train, tasks[chosen.seed].test))

    def keep(epochs: Sequence[Epoch], versions: dict[str, str]) -> None:
        busy = load is not None and load > 0.25 * (os.cpu_count() or 1)
        circumstances = {
            "date": started.strftime("%Y-%m-%d %H:%M UTC"),
            "images": f"{learnt:,} to learn from, {tested:,} to be tested on",
            "settings": ", ".join(f"{name} {value}" for name, value in vars(settings).items()),
            "cpu": f"{machine.cpu()}, {os.cpu_count()} cores, {chosen.threads} thread(s)",
            "gpu": PRECISIONS[chosen.precision] if chosen.gpu else "no",
            "seeds": f"{', '.join(map(str, seeds))}{' at a time' if len(seeds) > 1 else ''}",
            "load average": f"{load} before, {machine.load()} after",
            **({"caution": BUSY} if busy else {}),
            "versions": ", ".join(f"{name} {value}" for name, value in versions.items()),
        }
        write(out, settings, epochs, chosen.epochs, circumstances)

    with TemporaryDirectory() as folder:
        files = {seed: Path(folder) / f"task-{seed}.npz" for seed in seeds}
        for seed, task in tasks.items():
            task.save(files[seed])
        names = {seed: str(file) for seed, file in files.items()}
        trained(systems, names, chosen.epochs, chosen.threads, keep, pause=0.0 if chosen.gpu else PAUSE)
    print(f"\n{(out / 'summary.md').read_text(encoding='utf-8')}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    main()
