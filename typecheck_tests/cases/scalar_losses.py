"""Losses that are not one number, reported where they are written or where they are given to what minimises them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

import moonxi as mx
from moonxi import F32, NpArray, nn, optim
from moonxi.losses import Logits, cross_entropy, mse

type Host = NpArray[F32]


@dataclass(frozen=True, eq=False)
class Points[T: mx.Tensor]:
    x: Float[T, "batch 4"]
    y: Float[T, "batch 2"]
    classes: Int[mx.Labels[T], "batch"]

    @property
    def size(self) -> int:
        return self.x.shape[0]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Points[U]":
        return Points(f(self.x), f(self.y), self.classes.map(f))


def points() -> Points[Host]:
    like = mx.numpy()
    return Points(like.ones((3, 4)), like.ones((3, 2)), like.labels(np.array([0, 1, 0])))


def model() -> nn.Linear[Host]:
    return nn.Linear.init(4, 2, like=mx.numpy(), key=mx.Key(0))


def wrong_loss_of_each_sample() -> None:
    def loss[T: mx.MlpTensor](network: nn.Linear[T], batch: Points[T], mode: nn.Mode) -> T:
        return cross_entropy(  # E: [tensor-shape] a loss is one number
            Logits(network.forward(batch.x)), batch.classes, reduction="none"
        )

    mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0))


def right_loss_of_each_sample() -> None:
    def loss[T: mx.MlpTensor](network: nn.Linear[T], batch: Points[T], mode: nn.Mode) -> T:
        return cross_entropy(Logits(network.forward(batch.x)), batch.classes, reduction="sum")

    mx.Trainer(model(), loss, optim.Sgd(lr=0.1), key=mx.Key(0)).step(points())


def wrong_loss_without_a_mean() -> None:
    def squared_loss[T: mx.MlpTensor](network: nn.Linear[T], batch: Points[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
        distances = (network.forward(batch.x) - batch.y).square().sum(1)
        return distances, {"farthest": distances.max()}  # E: [tensor-shape] a loss is one number

    mx.value_and_grad(squared_loss, model(), points(), nn.Eval())


def right_loss_without_a_mean() -> None:
    def squared_loss[T: mx.MlpTensor](network: nn.Linear[T], batch: Points[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
        distances = (network.forward(batch.x) - batch.y).square().sum(1)
        return distances.mean(), {"farthest": distances.max()}

    mx.value_and_grad(squared_loss, model(), points(), nn.Eval())


def of_each[T: mx.MlpTensor](network: nn.Linear[T], batch: Points[T], mode: nn.Mode) -> T:
    return mse(network.forward(batch.x), batch.y, reduction="none").mean(1)


def of_all[T: mx.MlpTensor](network: nn.Linear[T], batch: Points[T], mode: nn.Mode) -> T:
    return of_each(network, batch, mode).mean()


def wrong_function_as_the_loss_of_a_trainer(network: nn.Linear[Host]) -> None:
    mx.Trainer(network, of_each, optim.Adam(lr=0.1), key=mx.Key(0))  # E: [tensor-shape] "of_each" gives


def right_function_as_the_loss_of_a_trainer() -> None:
    mx.Trainer(model(), of_all, optim.Adam(lr=0.1), key=mx.Key(0)).step(points())


def wrong_function_to_differentiate(network: nn.Linear[Host], batch: Points[Host]) -> None:
    mx.value_and_grad(of_each, network, batch, nn.Eval())  # E: [tensor-shape] "value_and_grad": "of_each" gives


def right_function_to_differentiate() -> None:
    value, _ = mx.value_and_grad(of_all, model(), points(), nn.Eval())
    assert value.shape == ()
