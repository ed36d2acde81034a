"""Handwritten digits, recognised by a small network: ``make mnist``.

    python examples/mnist.py                      the 10,000 training and 2,000 test images that moonxi ships
    python examples/mnist.py --data DIR           all 60,000 and 10,000, from the four published files
    python examples/mnist.py --download           the same, downloaded and verified
    ... --checkpoints DIR --resume                after a crash, the same again goes on where it was

Ends with ``test accuracy: 0.9...``, and fails if that is below what the recipe reaches.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jaxtyping import Float

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, mnist
from moonxi.losses import Logits, cross_entropy
from moonxi.nn.initializers import xavier_uniform
from moonxi.train import Checkpoints, threads


@dataclass(frozen=True)
class Mlp[T: mx.MlpTensor](nn.Module[T]):
    """784 pixels, two hidden layers, 10 classes."""

    first: nn.Linear[T]
    second: nn.Linear[T]
    out: nn.Linear[T]

    if TYPE_CHECKING:  # for other checkers: mypy's plugin adds it by itself

        def map[U: mx.MlpTensor](self, f: Callable[[T], U], /) -> "Mlp[U]": ...

    @classmethod
    def init(cls, like: T, key: mx.Key) -> "Mlp[T]":
        """A network with random weights where ``like`` lives."""
        first, second, out = key.split(3)
        return cls(
            nn.Linear.init(784, 128, like=like, key=first, weight=xavier_uniform),
            nn.Linear.init(128, 64, like=like, key=second, weight=xavier_uniform),
            nn.Linear.init(64, 10, like=like, key=out, weight=xavier_uniform),
        )

    def forward(self, x: Float[T, "batch 784"]) -> Logits[T]:
        """The score of each digit."""
        h = self.first.forward(x).relu()
        h = self.second.forward(h).relu()
        return Logits(self.out.forward(h))


def loss[T: mx.MlpTensor](model: Mlp[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    """Cross-entropy, and beside it the share of digits that are recognised."""
    logits = model.forward(batch.x)
    right = logits.predicted().equal(batch.labels)
    return cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


def run[T: mx.MlpTensor](like: T, arguments: argparse.Namespace) -> None:
    """Train, evaluate, and compare with what the recipe reaches."""
    data = mnist(like, folder=arguments.data, download=arguments.download)
    whole = len(data.train) == 60_000
    train = DataLoader(data.train, batch_size=64, seed=arguments.seed)
    test = DataLoader(data.test, batch_size=1000)
    print(f"MNIST: {len(data.train):,} training and {len(data.test):,} test images")
    print(f"seed {arguments.seed}, {threads()} threads: the same of both give the same bits")

    model = Mlp.init(like, mx.Key(arguments.seed))
    print(model.summary())
    lr = optim.step_decay(0.01, every=train.steps(epochs=5), factor=0.5) if whole else 0.01
    optimizer = optim.Sgd(lr=lr, momentum=0.9, weight_decay=1e-4, clip_norm=35.0)
    trainer = mx.Trainer(model, loss, optimizer, key=mx.Key(arguments.seed), compile=arguments.compile)
    recipe = 10 if whole else 20
    epochs = recipe if arguments.epochs is None else arguments.epochs
    folder: Path | None = arguments.checkpoints
    checkpoints = None if folder is None else Checkpoints(folder, metric="accuracy", higher_is_better=True)
    history = trainer.fit(
        train, epochs=epochs, test=test, save_to=arguments.save, checkpoints=checkpoints, resume=arguments.resume
    )

    accuracy = trainer.evaluate(test)["accuracy"]
    print(f"test accuracy: {accuracy:.4f}")
    target = 0.974 if whole else 0.94
    if accuracy < target and epochs >= recipe and not history.interrupted:
        sys.exit(f"expected at least {target}")


def main() -> None:
    """Choose where to compute, and how precisely."""
    parser = argparse.ArgumentParser(description="Train a small network on MNIST.")
    parser.add_argument(
        "--data", metavar="DIR", help="folder of the four published files (default: the shipped subset)"
    )
    parser.add_argument("--download", action="store_true", help="use the whole data set, downloaded if need be")
    parser.add_argument("--epochs", type=int, help="default: 20 on the subset, 10 on all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--no-compile", dest="compile", action="store_false", help="compute one operation after the other"
    )
    parser.add_argument("--gpu", action="store_true", help="compute on an NVIDIA GPU")
    parser.add_argument("--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of the GPU")
    parser.add_argument("--save", metavar="FILE", help="write the weights there at the end (safetensors)")
    parser.add_argument("--checkpoints", type=Path, metavar="DIR", help="write the run there after each epoch")
    parser.add_argument("--resume", action="store_true", help="go on from the last of --checkpoints, if there is one")
    arguments = parser.parse_args()
    if arguments.resume and arguments.checkpoints is None:
        parser.error("--resume: name the folder of the run with --checkpoints DIR")
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
