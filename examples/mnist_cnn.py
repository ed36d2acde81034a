"""Handwritten digits, recognised by a convolutional network (LeNet).

    python examples/mnist_cnn.py                  the 10,000 training and 2,000 test images that moonxi ships
    python examples/mnist_cnn.py --data DIR       all 60,000 and 10,000, from the four published files
    ... --checkpoints DIR --resume                after a crash, the same again goes on where it was
    ... --start FILE --head-only                  only the last layers are trained, upon the weights of an earlier run

Ends with ``test accuracy: 0.9...``, and fails if that is below what the recipe reaches.
"""

import argparse
import sys
from pathlib import Path

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, mnist
from moonxi.losses import cross_entropy
from moonxi.nn.models import LeNet
from moonxi.train import Checkpoints, threads


def loss[T: mx.ImageModelTensor](model: LeNet[T], batch: Labelled[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
    """Cross-entropy, and beside it the share of digits that are recognised."""
    logits = model.forward(batch.x, mode)
    right = logits.predicted().equal(batch.labels)
    return cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


def run[T: mx.ImageModelTensor](like: T, arguments: argparse.Namespace) -> None:
    """Train, evaluate, and compare with what the recipe reaches."""
    data = mnist(like, folder=arguments.data, shape=(1, 28, 28))
    images = data.train if arguments.limit is None else data.train.split(arguments.limit)[0]
    train = DataLoader(images, batch_size=64, seed=arguments.seed)
    test = DataLoader(data.test, batch_size=500)
    print(f"MNIST: {len(images):,} training and {len(data.test):,} test images")
    print(f"seed {arguments.seed}, {threads()} threads: the same of both give the same bits")

    model = LeNet.init(like=like, key=mx.Key(arguments.seed))
    if arguments.start is not None:
        model = nn.load(model, arguments.start)
    print(model.summary())
    optimizer = optim.Sgd(
        lr=optim.step_decay(0.02, every=train.steps(epochs=4), factor=0.2), momentum=0.9, clip_norm=35.0
    )
    frozen = optim.within(model, model.first, model.second) if arguments.head_only else None
    key = mx.Key(arguments.seed)
    trainer = mx.Trainer(model, loss, optimizer, key=key, frozen=frozen, compile=arguments.compile)
    folder: Path | None = arguments.checkpoints
    checkpoints = None if folder is None else Checkpoints(folder, metric="accuracy", higher_is_better=True)
    history = trainer.fit(
        train,
        epochs=arguments.epochs,
        test=test,
        save_to=arguments.save,
        checkpoints=checkpoints,
        resume=arguments.resume,
    )

    accuracy = trainer.evaluate(test)["accuracy"]
    print(f"test accuracy: {accuracy:.4f}")
    whole = arguments.epochs >= 6 and arguments.limit is None and not arguments.head_only
    if accuracy < 0.97 and whole and not history.interrupted:
        sys.exit("expected at least 0.97")


def main() -> None:
    """Choose where to compute, and how precisely."""
    parser = argparse.ArgumentParser(description="Train LeNet on MNIST.")
    parser.add_argument(
        "--data", metavar="DIR", help="folder of the four published files (default: the shipped subset)"
    )
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--limit", type=int, metavar="N", help="learn from the first N training images only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--no-compile", dest="compile", action="store_false", help="compute one operation after the other"
    )
    parser.add_argument("--gpu", action="store_true", help="compute on an NVIDIA GPU")
    parser.add_argument("--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of the GPU")
    parser.add_argument("--save", metavar="FILE", help="write the weights there at the end (safetensors)")
    parser.add_argument("--start", type=Path, metavar="FILE", help="begin with the weights of an earlier --save")
    parser.add_argument("--head-only", action="store_true", help="freeze the convolutions")
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
