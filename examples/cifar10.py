"""Photographs of ten kinds of things, recognised by a residual network.

    python examples/cifar10.py --data DIR                      ResNet-18, as the original of moonxi trains it
    python examples/cifar10.py --data DIR --recipe modern      its form for small images, as it is trained today
    python examples/cifar10.py --data DIR --model small        8 layers, for a laptop: a minute or two an epoch
    ... --checkpoints DIR --resume                             after a crash, the same again goes on where it was

``DIR`` holds CIFAR-10 in a published form (binary or "python", unpacked or not), or image folders
``{train,test}/CLASS/FILE``; it may also be the path of an archive of one of these. Each epoch adds a line to
``OUT/log.csv``; the curve is drawn to ``OUT/curve.png`` at the end, which needs matplotlib. Ctrl-C ends the training,
not the program: what was learned until then is kept, drawn and judged. Ends with ``test accuracy: 0.5...``.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, override

from jaxtyping import Float

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import Augmented, Crop, DataLoader, Flip, Labelled, Normalize, TrainTest, Transformed, cifar10
from moonxi.losses import Logits, cross_entropy
from moonxi.nn.models import ResNet18
from moonxi.sight import draw_curves
from moonxi.train import Batches, Callback, Checkpoints, EpochRecord, Run, Trainer, threads

COLUMNS = ("epoch", "lr", "loss", "train_accuracy", "test_accuracy", "seconds")


@dataclass(frozen=True)
class Block[T: mx.ImageModelTensor](nn.Module[T]):
    """Two convolutions around which the input is led, through one of 1 x 1 where the shape changes."""

    first: nn.Conv2d[T]
    first_norm: nn.BatchNorm2d[T]
    second: nn.Conv2d[T]
    second_norm: nn.BatchNorm2d[T]
    shortcut: nn.Conv2d[T] | None

    @classmethod
    def init(cls, inputs: int, outputs: int, /, *, like: T, key: mx.Key, stride: int = 1) -> "Block[T]":
        """A block with random weights where ``like`` lives."""
        first, second, around = key.split(3)
        shortcut = None
        if stride != 1 or inputs != outputs:
            shortcut = nn.Conv2d.init(inputs, outputs, 1, like=like, key=around, stride=stride, bias=False)
        return cls(
            nn.Conv2d.init(inputs, outputs, 3, like=like, key=first, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d.init(outputs, like=like),
            nn.Conv2d.init(outputs, outputs, 3, like=like, key=second, padding=1, bias=False),
            nn.BatchNorm2d.init(outputs, like=like),
            shortcut,
        )

    def forward(
        self, x: Float[T, "batch {self.first.inputs} height width"], mode: nn.Mode, /
    ) -> Float[T, "batch {self.second.outputs} _ _"]:
        """What the convolutions add to the input."""
        h = self.first_norm.forward(self.first.forward(x), mode).relu()
        h = self.second_norm.forward(self.second.forward(h), mode)
        around = x if self.shortcut is None else self.shortcut.forward(x)
        return nn.residual(h, around).relu()


@dataclass(frozen=True)
class SmallResNet[T: mx.ImageModelTensor](nn.Module[T]):
    """The residual network for small images of He et al. 2016, section 4.2, with one block a stage: 8 layers."""

    stem: nn.Conv2d[T]
    norm: nn.BatchNorm2d[T]
    wide: Block[T]
    middle: Block[T]
    deep: Block[T]
    head: nn.Linear[T]

    if TYPE_CHECKING:  # for other checkers: mypy's plugin adds it by itself

        def map[U: mx.ImageModelTensor](self, f: Callable[[T], U], /) -> "SmallResNet[U]": ...

    @classmethod
    def init(cls, *, like: T, key: mx.Key) -> "SmallResNet[T]":
        """A network with random weights where ``like`` lives."""
        stem, wide, middle, deep, head = key.split(5)
        return cls(
            nn.Conv2d.init(3, 16, 3, like=like, key=stem, padding=1, bias=False),
            nn.BatchNorm2d.init(16, like=like),
            Block.init(16, 16, like=like, key=wide),
            Block.init(16, 32, like=like, key=middle, stride=2),
            Block.init(32, 64, like=like, key=deep, stride=2),
            nn.Linear.init(64, 10, like=like, key=head),
        )

    def forward(self, x: Float[T, "batch 3 32 32"], mode: nn.Mode, /) -> Logits[T]:
        """The score of each class."""
        h = self.norm.forward(self.stem.forward(x), mode).relu()
        h = self.wide.forward(h, mode)
        h = self.middle.forward(h, mode)
        h = self.deep.forward(h, mode)
        h = h.avg_pool2d(8)
        return Logits(self.head.forward(h.reshape((h.shape[0], 64))))


type Network[T: mx.ImageModelTensor] = ResNet18[T] | SmallResNet[T]


def loss[T: mx.ImageModelTensor](model: Network[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    """Cross-entropy, and beside it the share of photographs that are recognised."""
    logits = model.forward(batch.x, mode)
    right = logits.predicted().equal(batch.labels)
    return cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


@dataclass(frozen=True)
class OneCycle:
    """The learning rate goes up to ``peak`` in a fifth of all steps, then down to 0, both in a straight line.

    After L. Smith and N. Topin, "Super-convergence" (2018)."""

    peak: float
    steps: int

    def __call__[T: mx.Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        done = (step + 1.0) / float(self.steps)
        up, down = done * 5.0, (1.0 - done) * 1.25
        return up.where(up < down, down) * self.peak


@dataclass(frozen=True)
class Recipe[T: mx.Tensor]:
    """How to train: batches to learn from, others to be judged by, a schedule, and an optimizer that follows it."""

    train: DataLoader[Labelled[T]]
    test: DataLoader[Labelled[T]]
    lr: optim.Schedule
    optimizer: optim.Optimizer


def original[T: mx.Tensor](data: TrainTest[T], epochs: int, seed: int) -> Recipe[T]:
    """That of the original of moonxi: images as they are; the learning rate 0.01, a tenth of it after 20 epochs."""
    train = DataLoader(data.train, batch_size=128, seed=seed)
    lr = optim.step_decay(0.01, every=train.steps(epochs=20))
    return Recipe(
        train,
        DataLoader(data.test, batch_size=500),
        lr,
        optim.Sgd(lr=lr, momentum=0.9, weight_decay=1e-4, clip_norm=35.0),
    )


def modern[T: mx.Tensor](data: TrainTest[T], epochs: int, seed: int) -> Recipe[T]:
    """That of D. Page, "How to Train Your ResNet" (2018), its rate of 0.4 for batches of 512 scaled to those of 128."""
    normal = Normalize(mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))  # of all training images
    shifted = Augmented(data.train, (normal, Crop(padding=4, mode="reflect"), Flip()))
    train = DataLoader(shifted, batch_size=128, seed=seed)
    lr = OneCycle(peak=0.1, steps=epochs * len(train))
    return Recipe(
        train,
        DataLoader(Transformed(data.test, (normal,)), batch_size=500),
        lr,
        optim.Sgd(lr=lr, momentum=0.9, nesterov=True, weight_decay=5e-4),
    )


class Log(Callback[object]):
    """``log.csv``: a line for each epoch, with the learning rate of its last step."""

    def __init__(self, path: Path, lr: Callable[[int], float]) -> None:
        self._path = path
        self._lr = lr

    @override
    def on_start(self, run: Run[object], /) -> None:
        self._write(run.records)

    @override
    def on_epoch(self, run: Run[object], record: EpochRecord, /) -> None:
        self._write(run.records)

    def _write(self, records: Sequence[EpochRecord]) -> None:
        """All of it, for a run that is resumed has epochs from before; who reads it meanwhile has the last one."""
        new = self._path.with_suffix(".new")
        with new.open("w", newline="", encoding="utf-8") as file:
            log = csv.writer(file)
            log.writerow(COLUMNS)
            for one in records:
                rate, seconds = self._lr(one.steps - 1), f"{one.seconds:.2f}"
                numbers = (rate, one.train["loss"], one.train["accuracy"], one.test["accuracy"])
                log.writerow((one.epoch + 1, *(f"{number:.6g}" for number in numbers), seconds))
        new.replace(self._path)


def fit[T: mx.Tensor, M, B](
    trainer: Trainer[T, M, B],
    train: Batches[B],
    test: Batches[B],
    lr: Callable[[int], float],
    epochs: int,
    arguments: argparse.Namespace,
) -> float:
    """Train, write the log and the curve, and give the share of the test images that are recognised in the end."""
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    folder: Path | None = arguments.checkpoints
    checkpoints = None if folder is None else Checkpoints(folder, metric="accuracy", higher_is_better=True)
    log = Log(out / "log.csv", lr)
    history = trainer.fit(
        train, epochs=epochs, test=test, callbacks=[log], checkpoints=checkpoints, resume=arguments.resume
    )
    records = history.epochs
    if records:
        draw(records, out / "curve.png")
    if records and not history.interrupted:
        return records[-1].test["accuracy"]
    return trainer.evaluate(test)["accuracy"]


def draw(records: Sequence[EpochRecord], path: Path) -> None:
    """The loss and the accuracies over the epochs, as a picture."""
    try:
        draw_curves(records, path)
    except mx.errors.DataError as error:  # it needs matplotlib
        print(error)
    else:
        print(f"curve drawn to {path}")


def run[T: mx.ImageModelTensor](like: T, arguments: argparse.Namespace) -> None:
    """Train and evaluate."""
    data = cifar10(like, folder=arguments.data, download=arguments.download)
    if arguments.limit is not None:  # at random: image folders are in the order of the classes
        data = TrainTest(train=data.train.split(arguments.limit, seed=0)[0], test=data.test)
    print(f"CIFAR-10: {len(data.train):,} training and {len(data.test):,} test images")
    print(f"seed {arguments.seed}, {threads()} threads: the same of both give the same bits")

    epochs = 24 if arguments.epochs is None else arguments.epochs
    recipe = (modern if arguments.recipe == "modern" else original)(data, epochs, arguments.seed)
    key = mx.Key(arguments.seed)
    ema = None if arguments.ema is None else optim.Ema(decay=arguments.ema, warm_up=True)

    def lr(step: int) -> float:
        return recipe.lr(like.full((), step)).item()

    if arguments.model == "small":
        small = SmallResNet.init(like=like, key=key)
        print(small.summary())
        trainer = Trainer(small, loss, recipe.optimizer, key=key, ema=ema, compile=arguments.compile)
        accuracy = fit(trainer, recipe.train, recipe.test, lr, epochs, arguments)
    else:
        # The stem of ImageNet halves an image twice, and leaves little of 32 x 32 pixels.
        large = ResNet18.init(like=like, key=key, small=arguments.recipe == "modern")
        print(large.summary())
        residual = Trainer(large, loss, recipe.optimizer, key=key, ema=ema, compile=arguments.compile)
        accuracy = fit(residual, recipe.train, recipe.test, lr, epochs, arguments)
    print(f"test accuracy: {accuracy:.4f}")


def main() -> None:
    """Choose where to compute, and how precisely."""
    parser = argparse.ArgumentParser(description="Train a residual network on CIFAR-10.")
    parser.add_argument("--data", metavar="DIR", help="folder or archive of CIFAR-10 in any of its forms")
    parser.add_argument("--download", action="store_true", help="use the published data, downloaded if need be")
    parser.add_argument("--recipe", choices=("original", "modern"), default="original")
    parser.add_argument("--model", choices=("resnet18", "small"), default="resnet18")
    parser.add_argument("--epochs", type=int, help="default: 24")
    parser.add_argument("--limit", type=int, metavar="N", help="learn from N of the training images")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--no-compile", dest="compile", action="store_false", help="compute one operation after the other"
    )
    parser.add_argument("--gpu", action="store_true", help="compute on an NVIDIA GPU")
    parser.add_argument("--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of the GPU")
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("runs/cifar10"), help="default: runs/cifar10")
    parser.add_argument("--ema", type=float, metavar="DECAY", help="evaluate averages of the weights, such as 0.99")
    parser.add_argument("--checkpoints", type=Path, metavar="DIR", help="write the run there after each epoch")
    parser.add_argument("--resume", action="store_true", help="go on from the last of --checkpoints, if there is one")
    arguments = parser.parse_args()
    if arguments.resume and arguments.checkpoints is None:
        parser.error("--resume: name the folder of the run with --checkpoints DIR")
    if arguments.data is None and not arguments.download:
        parser.error("name the folder or archive of CIFAR-10 with --data, or give --download")

    if not arguments.gpu:
        run(mx.numpy(), arguments)
    elif arguments.precision == "bf16":
        run(mx.gpu(mx.BF16), arguments)
    else:
        run(mx.gpu(tf32=arguments.precision == "tf32"), arguments)


if __name__ == "__main__":
    try:
        main()
    except mx.errors.MoonxiError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted")
