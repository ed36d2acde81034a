"""Handwritten digits, recognised by a convolutional network (LeNet).

    python examples/mnist_cnn.py                  the 10,000 training and 2,000 test images that moonxi ships
    python examples/mnist_cnn.py --data DIR       all 60,000 and 10,000, from the four published files

Ends with ``test accuracy: 0.9...``, and fails if that is below what the recipe reaches.
"""

import argparse
import sys

import moonxi as mx
from moonxi import nn, optim
from moonxi.data import DataLoader, Labelled, mnist
from moonxi.losses import cross_entropy
from moonxi.nn.models import LeNet
from moonxi.train import threads


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
    print(model.summary())
    optimizer = optim.Sgd(lr=optim.step_decay(0.02, every=4 * len(train), factor=0.2), momentum=0.9, clip_norm=35.0)
    trainer = mx.Trainer(model, loss, optimizer, key=mx.Key(arguments.seed), compile=arguments.compile)
    history = trainer.fit(train, epochs=arguments.epochs, test=test, save_to=arguments.save)

    accuracy = trainer.evaluate(test)["accuracy"]
    print(f"test accuracy: {accuracy:.4f}")
    if accuracy < 0.97 and arguments.epochs >= 6 and arguments.limit is None and not history.interrupted:
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
        "--compile", action=argparse.BooleanOptionalAction, help="trace the step once and replay it (default: on a CPU)"
    )
    parser.add_argument("--gpu", action="store_true", help="compute on an NVIDIA GPU")
    parser.add_argument("--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="of the GPU")
    parser.add_argument("--save", metavar="FILE", help="write the weights there at the end (safetensors)")
    arguments = parser.parse_args()
    if arguments.compile is None:
        arguments.compile = not arguments.gpu

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
