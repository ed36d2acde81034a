"""A program that runs every kernel, for ``compute-sanitizer python -m tests.backends.gpu_sample [F32 F64 F16 BF16]``.

Each array has memory of its own, not a part of a pool, so that a step beyond it is seen; in a recording that is so for
what is not computed within. Steps that are compiled run the generated kernels too, and those that only they use.
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import nn, optim
from moonxi.backends.cupy import folding, gpu, plans, sources, turning
from moonxi.compiled import Pass
from moonxi.dtypes import BF16, F16, F32, F64
from moonxi.key import Key
from moonxi.losses import Logits, cross_entropy


def every_kernel(like: Any) -> None:
    """Call the operations that stand on each kernel, on sizes that fill no block."""
    x = like.uniform((37, 43), Key(0)) + 0.5
    y = like.normal((37, 43), Key(1))
    row = x[0]
    for result in (x + y, x - row, x * y, x / (row + 1.0), x**y, x.maximum(row), 2.0 - x, 1.0 / x, 2.0**x, x * 2.0 + y):
        result.sum().item()
    for result in (x**1.5, x**row, x.maximum(y), x.maximum(0.5), x - row * 2.0, x.transpose() * y.transpose()):
        result.sum().item()
    (x * x[0, 0]).to_host()
    for result in (x.expm1(), x.log1p(), x.sin(), x.cos(), x.erf()):
        result.max().item()
    for result in (-x, x.exp(), x.log(), x.tanh(), x.sqrt(), x.floor(), x.square(), x.relu(), x.softmax(1)):
        result.max().item()
    for mask in (
        *(x < y, x <= y, x > y, x >= y, x.equal(y)),
        *(x < row, x <= row, x > row, x >= row, x.equal(row)),
        *(x < 0.5, x <= 0.5, x > 0.5, x >= 0.5, x.equal(1.0)),
    ):
        x.where(mask, y).where(mask, 0.0).sum(0).sum().item()
    for mask in (x < 0.5, x <= 0.5, x > 0.5, x >= 0.5, x.equal(1.0)):  # of which nobody needs the bytes
        x.where(mask, 0.0).sum().item()
    for axes in (0, 1, None):
        for result in (x.sum(axes), x.max(axes), x.square().sum(axes), x.transpose().sum(axes)):
            result.to_host()
    big = like.uniform((69993,), Key(2))
    for result in (big.sum(), big.max(), big.square().sum(), big.reshape((-1, 7)).sum(0), x.log_softmax(0)):
        result.to_host()
    for result in (big.reshape((-1, 7)).max(0), big.reshape((-1, 7)).square().sum(0)):
        result.to_host()
    x.argmax(0).to_host()
    x.argsort(1).to_host()
    labels = x.argmax(1)
    x.pick(labels).put(labels, 43).to_host()
    x.one_hot(labels, 43).to_host()
    x.gather(labels[:, None]).scatter_add(labels[:, None], 43).to_host()
    big.reshape((1, -1)).scatter_add(like.labels(np.arange(69993) % 5), 5).to_host()
    x.put_slice((slice(1, 38), slice(0, 86, 2)), (40, 90)).to_host()
    (x @ y.transpose()).to_host()
    images, weight = like.normal((3, 4, 11, 10), Key(3)), like.normal((6, 2, 3, 3), Key(4))
    options: Any = {"groups": 2, "padding": 1, "stride": 2}
    z = images.conv2d(weight, like.ones((6,)), **options)
    z.conv2d_input_grad(weight, images.shape, **options).to_host()
    images.conv2d_weight_grad(z, weight.shape, **options).to_host()
    images.conv2d(like.ones((5, 4, 2, 2)), padding="same").to_host()
    always = patch.object(folding, "chosen", lambda kind, way, space, compute: folding.fold(way.conv, space.itemsize))
    turned = patch.object(turning, "chosen", lambda way, space: turning.mirrored(way.conv))
    with always, turned:  # what is chosen where it is faster
        kernel = like.normal((6, 4, 3, 3), Key(4))
        around = kernel.conv2d_turned((3, 6, 11, 10), images.shape, padding=1)
        images.conv2d(kernel, padding=1).conv2d_input_grad_turned(kernel, around, images.shape, padding=1).to_host()
        z = images.conv2d(like.ones((6, 4, 3, 3)), stride=2, padding=1)
        images.conv2d_weight_grad(z, (6, 4, 3, 3), stride=2, padding=1).to_host()
    images.max_pool2d(3, stride=2, padding=1).to_host()
    images.max_pool2d_grad(images.max_pool2d(2), 2).to_host()
    images.sum_pool2d(2).sum_pool2d_grad(images.shape, 2).to_host()
    vector = like.ones((4,))
    for one in images, images.permute((0, 2, 3, 1)).reshape((-1, 4)):
        out, mean, variance = one.batch_norm(vector, vector)
        one.batch_norm_grad(out, vector, mean, variance)[0].to_host()
    for element in sources.FLOATING:
        x.cast(element).to_host()


def every_way_of_compiled_steps(like: Any, low: Any) -> None:
    """Training steps as they are recorded, with all passes and without; ``low`` is what weights are cast to."""
    optimizers = (
        optim.Sgd(
            lr=optim.step_decay(0.1, every=optim.Steps(2), factor=0.5), momentum=0.9, weight_decay=1e-4, clip_norm=1.0
        ),
        optim.Adam(lr=0.01),
    )
    model = new_net(like)
    for optimizer in optimizers:
        ways: tuple[tuple[Pass, ...], ...] = (("tuned_plans",), ("tuned_plans", "fusion"))
        for step in (mx.compile(training(loss, optimizer, low), without=without) for without in ways):
            state, trained = optimizer.init(model), model
            for number in range(4):
                x = like.normal((6, 3, 9, 8), Key(number))
                batch = mx.Labelled(x, like.labels(np.arange(6) % 5))
                trained, state, value = step(trained, state, batch, Key(number))
                value.item()
    scores = mx.compile(scored)
    for number in range(3):
        for one in scores(like.normal((37, 43), Key(number))):
            one.to_host()


@dataclass(frozen=True)
class Net[T: mx.ImageModelTensor](nn.Module[T]):
    """A stem and a residual block."""

    stem: nn.Conv2d[T]
    norm: nn.BatchNorm2d[T]
    conv: nn.Conv2d[T]
    other: nn.BatchNorm2d[T]
    dropout: nn.Dropout
    out: nn.Linear[T]

    def forward(self, x: Float[T, "batch 3 height width"], mode: nn.Mode) -> Logits[T]:
        """The score of each of five classes."""
        h = self.norm.forward(self.stem.forward(x), mode).relu().max_pool2d(3, stride=2, padding=1)
        h = (self.other.forward(self.conv.forward(h), mode) + h).relu()
        return Logits(self.out.forward(self.dropout.forward(h.mean((2, 3)), mode)))


def new_net[T: mx.ImageModelTensor](like: T) -> Net[T]:
    layer, other, deep = Key(7).split(3)
    return Net(
        nn.Conv2d.init(3, 8, 3, padding=1, like=like, key=layer),
        nn.BatchNorm2d.init(8, like=like),
        nn.Conv2d.init(8, 8, 3, padding=1, like=like, key=deep),
        nn.BatchNorm2d.init(8, like=like),
        nn.Dropout(0.3),
        nn.Linear.init(8, 5, like=like, key=other),
    )


def loss[T: mx.ImageModelTensor](model: Net[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def scored(x: Any) -> Any:
    """What is no step of a training."""
    return x.softmax(1) + x.log_softmax(1), x.uniform((37, 43), Key(0))


def training(loss: Any, optimizer: Any, low: Any = None) -> Any:
    """A step whose passes are in another element type, where one is given."""

    def step(model: Any, state: Any, batch: Any, key: Key) -> Any:
        inner, data = model, batch
        if low is not None:
            inner, data = model.map(lambda x: x.cast(low)), mx.Labelled(batch.x.cast(low), batch.labels)
        value, gradients = nn.value_and_grad(loss, inner, data, nn.Train(key))
        if low is not None:
            gradients = gradients.map(lambda x: x.cast(F32))
        return (*optimizer.update(model, gradients, state), value)

    return step


def sample(element: Any) -> None:
    """All of it for an element type, with cuDNN where it is and with the kernels alone."""
    every_kernel(gpu(element))
    every_kernel(gpu(element, debug=True))
    every_way_of_compiled_steps(gpu(element), None)
    if element in (F16, BF16):
        every_way_of_compiled_steps(gpu(F32), element)
    with patch.object(plans.Convolution, "plan", return_value=None):
        every_kernel(gpu(element))


def main() -> None:
    """Run it for the element types that are named, or all of them."""
    cuda: Any = import_module("cupy.cuda")
    cuda.set_allocator(None)
    named = {element.__name__: element for element in (F32, F64, F16, BF16)}
    for name in sys.argv[1:] or named:
        sample(named[name])
    print("every kernel ran")


if __name__ == "__main__":
    main()
