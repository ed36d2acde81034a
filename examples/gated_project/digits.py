"""Handwritten digits, in a project into which no wrong shape gets: the gates are in the files beside this one.

python digits.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float

import moonxi as mx
from moonxi import nn
from moonxi.data import mnist
from moonxi.losses import Logits, cross_entropy


def centred[T: mx.Tensor](x: Float[T, "batch pixels"]) -> Float[T, "batch pixels"]:
    """Each image less its own mean."""
    return x - x.mean(1, keepdims=True)


@dataclass(frozen=True)
class Classifier[T: mx.MlpTensor](nn.Module[T]):
    """784 pixels, a hidden layer, 10 classes."""

    hidden: nn.Linear[T]
    out: nn.Linear[T]

    if TYPE_CHECKING:  # for other checkers: mypy's plugin adds it by itself

        def map[U: mx.MlpTensor](self, f: Callable[[T], U], /) -> "Classifier[U]": ...

    @classmethod
    def init(cls, *, like: T, key: mx.Key) -> "Classifier[T]":
        """One with random weights where ``like`` lives."""
        first, second = key.split(2)
        return cls(nn.Linear.init(784, 32, like=like, key=first), nn.Linear.init(32, 10, like=like, key=second))

    def forward(self, x: Float[T, "batch 784"]) -> Logits[T]:
        """The score of each digit."""
        return Logits(self.out.forward(self.hidden.forward(centred(x)).relu()))


def loss[T: mx.MlpTensor](model: Classifier[T], batch: mx.Labelled[T], mode: mx.Mode) -> tuple[T, dict[str, T]]:
    """Cross-entropy, and beside it the share of digits that are recognised."""
    logits = model.forward(batch.x)
    right = logits.predicted().equal(batch.labels)
    return cross_entropy(logits, batch.labels), {"accuracy": right.to_tensor(batch.x).mean()}


def main() -> None:
    """Train for an epoch, and say how well it went."""
    like = mx.numpy()
    digits = mnist(like)
    model = Classifier.init(like=like, key=mx.Key(0))
    trainer = mx.Trainer(model, loss, mx.Sgd(lr=0.1, momentum=0.9), key=mx.Key(1))
    trainer.fit(mx.DataLoader(digits.train, batch_size=64, seed=0), epochs=1)
    print(trainer.evaluate(mx.DataLoader(digits.test, batch_size=1000)))


if __name__ == "__main__":
    main()
