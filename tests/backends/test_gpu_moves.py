"""Running statistics on the GPU are moved at once, to where they come one after the other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.dtypes import F32, F64
from moonxi.losses import cross_entropy
from tests.backends.on_gpu import gpu_or_skip, launched

pytestmark = pytest.mark.gpu


@dataclass(frozen=True)
class Net[T: mx.ImageModelTensor](nn.Module[T]):
    """One layer is used twice, and another has a share of its own."""

    first: nn.BatchNorm2d[T]
    second: nn.BatchNorm2d[T]
    out: nn.Linear[T]

    def forward(self, x: T, mode: nn.Mode) -> mx.losses.Logits[T]:
        h = self.first.forward(x, mode)
        h = self.first.forward(self.second.forward(h, mode).relu(), mode)
        return mx.losses.Logits(self.out.forward(h.mean((2, 3))))


def made(like: Any) -> Any:
    return Net(
        nn.BatchNorm2d.init(3, like=like),
        nn.BatchNorm2d.init(3, like=like, momentum=0.25),
        nn.Linear.init(3, 4, like=like, key=mx.Key(0)),
    )


def loss(model: Any, batch: Any, mode: Any) -> Any:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def batch(like: Any) -> Any:
    numbers = np.random.default_rng(0).normal(1.0, 2.0, (5, 3, 4, 4))
    return mx.Labelled(like.from_host(numbers.astype(like.to_host().dtype)), like.labels(np.arange(5) % 4))


@pytest.mark.parametrize(("element", "tolerance"), [(F32, 1e-5), (F64, 1e-12)])
def test_they_are_those_of_the_host(element: Any, tolerance: float) -> None:
    gpu, cpu = gpu_or_skip(element)(), mx.numpy(element)
    value_and_grad: Any = mx.value_and_grad
    states = []
    for like in (gpu, cpu):
        _, after = value_and_grad(loss, made(like), batch(like), nn.Train(mx.Key(0)))
        states.append([one.to_host() for one in after.named_states().values()])
    for mine, theirs in zip(*states, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


def test_those_of_one_share_are_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    like = gpu_or_skip(F32)()
    launches = launched(monkeypatch)
    model, mode = made(like), nn.Train(mx.Key(0))
    with nn.scope.Scope(model) as scope:
        model.forward(batch(like).x, mode)
        # Of each share, means and variances, which are multiplied by the same number of values over one less.
        assert launches.count("formula") == 4, "the second use of a layer starts from the first"
        assert scope.updated
        launches.clear()
        found = scope.newest(model.first.mean)
        assert scope.newest(model.first.variance).shape == found.shape
    assert launches.count("formula") == 2
