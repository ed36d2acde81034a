"""What a compiled step moves about in memory: nothing but its inputs, which come in as they lie."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from jaxtyping import Float

import moonxi as mx
from moonxi import losses, nn
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.recording import CudaRecording
from moonxi.dtypes import F32
from moonxi.nn.models.resnet import BasicBlock, ConvNorm
from tests.backends.on_gpu import gpu_or_skip

pytestmark = pytest.mark.gpu


@dataclass(frozen=True)
class Net[T: mx.ImageModelTensor](nn.Module[T]):
    """A stem with pooling, a residual block with a projection, and one without."""

    stem: ConvNorm[T]
    blocks: tuple[BasicBlock[T], ...]
    head: nn.Linear[T]

    @classmethod
    def init(cls, like: T, key: mx.Key) -> "Net[T]":
        one, two, three, four = key.split(4)
        return cls(
            ConvNorm.init(3, 8, 7, like=like, key=one, stride=2),
            (
                BasicBlock.init(8, 16, like=like, key=two, stride=2),
                BasicBlock.init(16, 16, like=like, key=three),
            ),
            nn.Linear.init(16, 5, like=like, key=four),
        )

    def forward(self, x: Float[T, "batch 3 height width"], mode: nn.Mode) -> losses.Logits[T]:
        h = self.stem.forward(x, mode).relu().max_pool2d(3, stride=2, padding=1)
        for block in self.blocks:
            h = block.forward(h, mode)
        return losses.Logits(self.head.forward(h.mean((2, 3))))


def loss[T: mx.ImageModelTensor](model: Net[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return losses.cross_entropy(model.forward(batch.x, mode), batch.labels)


def test_nothing_is_turned_around_within_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu: Any = gpu_or_skip(F32)()
    optimizer = mx.Sgd(lr=0.1, momentum=0.9, clip_norm=1.0)
    model = Net.init(gpu, mx.Key(0))

    def step(model: Any, state: Any, batch: Any) -> Any:
        value, gradients = nn.value_and_grad(loss, model, batch, nn.Train(mx.Key(0)))
        return (*optimizer.update(model, gradients, state), value)

    moved: list[tuple[int, ...]] = []
    captures: list[list[tuple[int, ...]]] = []
    copy, captured = Space.copy, CudaRecording._work

    def noted(self: Space, x: DeviceArray, out: DeviceArray) -> None:
        if not any(size > 1 and stride == 0 for size, stride in zip(x.shape, x.strides, strict=True)):
            moved.append(x.shape)  # what is repeated, such as the gradient of a mean, has to be written out
        copy(self, x, out)

    def within(self: CudaRecording, *arguments: Any) -> Any:
        moved.clear()
        found = captured(self, *arguments)
        captures.append(list(moved))
        return found

    monkeypatch.setattr(Space, "copy", noted)
    monkeypatch.setattr(CudaRecording, "_work", within)
    compiled = mx.compile(step)
    state = optimizer.init(model)
    for number in range(3):
        batch = mx.Labelled(gpu.normal((4, 3, 16, 16), mx.Key(number)), gpu.labels(np.arange(4)))
        model, state, _ = compiled(model, state, batch)
    # Images of few channels come as they lie, and are turned where trying shows that cuDNN should take them as such.
    assert {*captures[0]} <= {(4, 3, 16, 16)}
    assert captures == [captures[0]] * 3  # once to warm up, and a graph for each set of memory
