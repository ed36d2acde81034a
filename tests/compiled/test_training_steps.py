"""Whole training steps: compiled, they compute what they compute eagerly."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from jaxtyping import Float

import moonxi as mx
from examples.mnist import Mlp, loss
from moonxi import losses, nn, optim
from moonxi.dtypes import Floating

OPTIMIZERS = {
    "sgd": optim.Sgd(
        lr=optim.step_decay(0.01, every=optim.Steps(10), factor=0.5),
        momentum=0.9,
        weight_decay=1e-4,
        clip_norm=1.0,
        nesterov=True,
    ),
    "adam": optim.Adam(lr=0.001),
    "adamw": optim.AdamW(lr=0.001, clip_value=0.01),
}


def check_same[T: mx.Tensor](one: nn.Module[T], other: nn.Module[T], tolerance: float) -> None:
    """Two models have the same numbers, up to rounding: sums run in another order."""
    for mine, theirs in zip([*one.named_tensors()], [*other.named_tensors()], strict=True):
        assert mine.keys() == theirs.keys()
        for path, tensor in mine.items():
            np.testing.assert_allclose(tensor.to_host(), theirs[path].to_host(), rtol=tolerance, atol=tolerance)


type Model[D: Floating] = Mlp[mx.NpArray[D]]
type State[D: Floating] = optim.OptimizerState[mx.NpArray[D], Model[D]]
type Batch[D: Floating] = mx.Labelled[mx.NpArray[D]]
type Kept[D: Floating] = dict[str, mx.NpArray[D]]
type Step[D: Floating] = Callable[
    [Model[D], State[D], Batch[D], mx.Key], tuple[Model[D], State[D], mx.NpArray[D], Kept[D]]
]


def check_digits[D: Floating](cpu: mx.NpArray[D], optimizer: optim.Optimizer, tolerance: float) -> None:
    """Fifty steps on digits, eager and compiled."""
    digits = mx.data.mnist(cpu).train

    def step(
        model: Model[D], state: State[D], batch: Batch[D], key: mx.Key
    ) -> tuple[Model[D], State[D], mx.NpArray[D], Kept[D]]:
        (value, kept), gradients = nn.value_and_grad(loss, model, batch, nn.Train(key))
        return (*optimizer.update(model, gradients, state), value, kept)

    def trained(step: Step[D]) -> tuple[list[tuple[float, float]], Model[D]]:
        model = Mlp.init(cpu, mx.Key(0))
        state = optimizer.init(model)
        found = []
        for number in range(50):
            batch = digits.batch(np.arange(number * 64, number * 64 + 64))
            model, state, value, kept = step(model, state, batch, mx.Key(0).fold(number))
            found.append((value.item(), kept["accuracy"].item()))
        return found, model

    compiled = mx.compile(step)
    expected, model = trained(step)
    found, other = trained(compiled)
    np.testing.assert_allclose(found, expected, rtol=tolerance)
    check_same(model, other, tolerance)
    (trace,) = mx.compile_report(compiled).traces
    assert trace.replays == 49
    assert trace.nodes_left < trace.nodes_traced


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_mnist_trains_compiled_to_the_same_losses(name: str) -> None:
    check_digits(mx.numpy(mx.F32), OPTIMIZERS[name], 1e-3)
    check_digits(mx.numpy(mx.F64), OPTIMIZERS[name], 1e-10)


@dataclass(frozen=True)
class Small[T: mx.ImageModelTensor](nn.Module[T]):
    """A convolution, batch normalisation, dropout."""

    convolution: nn.Conv2d[T]
    norm: nn.BatchNorm2d[T]
    dropout: nn.Dropout
    out: nn.Linear[T]

    @classmethod
    def init(cls, like: T, key: mx.Key) -> "Small[T]":
        one, two = key.split()
        return cls(
            nn.Conv2d.init(1, 4, 3, padding=1, like=like, key=one),
            nn.BatchNorm2d.init(4, like=like),
            nn.Dropout(0.3),
            nn.Linear.init(4, 3, like=like, key=two),
        )

    def forward(self, x: Float[T, "batch 1 height width"], mode: nn.Mode) -> losses.Logits[T]:
        h = self.norm.forward(self.convolution.forward(x), mode).relu()
        return losses.Logits(self.out.forward(self.dropout.forward(h.mean((2, 3)), mode)))


def small_loss[T: mx.ImageModelTensor](model: Small[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return losses.cross_entropy(model.forward(batch.x, mode), batch.labels)


type SmallModel = Small[mx.NpArray[mx.F64]]
type SmallState = optim.OptimizerState[mx.NpArray[mx.F64], SmallModel]
type SmallStep = Callable[
    [SmallModel, SmallState, Batch[mx.F64], mx.Key], tuple[SmallModel, SmallState, mx.NpArray[mx.F64]]
]


def test_batch_statistics_and_dropout_are_those_of_the_eager_step() -> None:
    cpu = mx.numpy(mx.F64)
    optimizer = optim.Sgd(lr=0.1, momentum=0.9)

    def step(
        model: SmallModel, state: SmallState, batch: Batch[mx.F64], key: mx.Key
    ) -> tuple[SmallModel, SmallState, mx.NpArray[mx.F64]]:
        value, gradients = nn.value_and_grad(small_loss, model, batch, nn.Train(key))
        return (*optimizer.update(model, gradients, state), value)

    def trained(step: SmallStep) -> tuple[list[float], SmallModel]:
        model = Small.init(cpu, mx.Key(0))
        state = optimizer.init(model)
        found = []
        for number in range(8):
            key = mx.Key(1).fold(number)
            batch = mx.Labelled(cpu.normal((6, 1, 5, 5), key), cpu.labels(np.arange(6) % 3))
            model, state, value = step(model, state, batch, key)
            found.append(value.item())
        return found, model

    expected, model = trained(step)
    found, other = trained(mx.compile(step))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    check_same(model, other, 1e-12)
    assert not np.array_equal(model.norm.mean.value.to_host(), np.zeros(4))
