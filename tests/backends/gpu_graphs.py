"""What compiling makes of training steps for the GPU, on a machine without one: graphs, and sources of kernels.

``python -m tests.backends.gpu_graphs`` renews the graphs in ``tests/backends/graphs``, of which the tests say if they
change: look at the difference, and store it if it is meant. With a folder, it writes graphs and sources there.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

import moonxi as mx
from examples import cifar10, linear, mnist, mnist_cnn
from moonxi import nn, optim
from moonxi.backends.cupy import gpu, sources
from moonxi.compiled import replaying
from moonxi.compiled.device_plan import DevicePlan
from moonxi.compiled.graph import shown_argument
from moonxi.dtypes import BF16, F32
from moonxi.losses import Logits, cross_entropy
from moonxi.nn.models import LeNet, ResNet18
from tests.backends import gpu_sample
from tests.backends.on_host import kernels

FOLDER = Path(__file__).with_name("graphs")
STORED = ("mlp", "residual", "transformer")
"""The graphs that are stored."""


@dataclass(frozen=True)
class Transformer[T: mx.ImageModelTensor](nn.Module[T]):
    """A block of one head of attention and a network for each word, on what is normalised, and a score of words."""

    first: nn.LayerNorm[T]
    query: nn.Linear[T]
    key: nn.Linear[T]
    value: nn.Linear[T]
    mixed: nn.Linear[T]
    second: nn.LayerNorm[T]
    up: nn.Linear[T]
    down: nn.Linear[T]
    out: nn.Linear[T]

    @classmethod
    def init(cls, width: int, words: int, /, *, like: T) -> "Transformer[T]":
        """With random weights where ``like`` lives."""
        keys = mx.Key(0).split(7)

        def linear(number: int, inputs: int, outputs: int) -> nn.Linear[T]:
            return nn.Linear.init(inputs, outputs, like=like, key=keys[number])

        return cls(
            nn.LayerNorm.init(width, like=like),
            *(linear(0, width, width), linear(1, width, width), linear(2, width, width), linear(3, width, width)),
            nn.LayerNorm.init(width, like=like),
            *(linear(4, width, 4 * width), linear(5, 4 * width, width), linear(6, width, words)),
        )

    def forward(self, x: Float[T, "batch words width"], mode: nn.Mode) -> Logits[T]:
        """The scores of the next word after the first, from all of them."""
        batch, words, width = x.shape
        rows = self.first.forward(x).reshape((batch * words, width))
        query, key, value = (
            one.forward(rows).reshape((batch, words, width)) for one in (self.query, self.key, self.value)
        )
        weights = (query @ key.permute((0, 2, 1)) * width**-0.5).softmax(-1)
        x = x + self.mixed.forward((weights @ value).reshape((batch * words, width))).reshape(x.shape)
        rows = self.second.forward(x).reshape((batch * words, width))
        x = x + self.down.forward(self.up.forward(rows).relu()).reshape(x.shape)
        return Logits(self.out.forward(x[:, 0]))


def loss[T: mx.ImageModelTensor](model: Transformer[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
    return cross_entropy(model.forward(batch.x, mode), batch.labels)


def images(like: Any, *shape: int) -> Any:
    return mx.Labelled(like.normal(shape, mx.Key(1)), like.labels(np.arange(shape[0]) % 5))


def tasks(like: Any) -> dict[str, tuple[Any, Any, Any]]:
    """Models, losses and batches: the three whose graphs are stored, and those of the examples."""
    key, small, one = mx.Key(0), images(like, 4, 3, 32, 32), images(like, 8, 1, 28, 28)
    points = linear.Points(like.ones((16, 1)), like.ones((16, 1)))
    return {
        "mlp": (mnist.Mlp.init(like, key), mnist.loss, images(like, 64, 784)),
        "residual": (gpu_sample.new_net(like), gpu_sample.loss, images(like, 6, 3, 9, 8)),
        "transformer": (Transformer.init(16, 20, like=like), loss, images(like, 3, 8, 16)),
        "linear": (nn.Linear.init(1, 1, like=like, key=key), linear.loss, points),
        "lenet": (LeNet.init(like=like, key=key), mnist_cnn.loss, one),
        "small resnet": (cifar10.SmallResNet.init(like=like, key=key), cifar10.loss, small),
        "resnet18": (ResNet18.init(like=like, key=key), cifar10.loss, small),
    }


def shown(plan: DevicePlan) -> str:
    """The operations in the order and on the branches on which the device gets them, with numbers of their own."""
    graph, branches = plan.work, plan.branches
    names: dict[int, int] = {}

    def named(number: int) -> int:
        return names.setdefault(number, len(names))

    def described(numbers: Any) -> str:
        return ", ".join(f"%{named(number)} {graph.specs[number]}" for number in numbers)

    lines = [f"inputs: {described(graph.inputs)}", f"constants: {described(sorted(graph.constants))}"]
    for node in graph.nodes:
        for number in (*node.inputs, *node.results):
            named(number)
        own = replace(node.renamed(names), results=tuple(names[number] for number in node.results))
        arguments = [*map(shown_argument, own.arguments), *(f"{key}={shown_argument(v)}" for key, v in own.options)]
        branch = branches.get(node.results[0], 0)
        lines.append(f"[{branch}] {described(node.results)} = {node.operation.strip('_')}({', '.join(arguments)})")
    text = "\n".join([*lines, f"return {described(graph.outputs)}", ""])
    text = re.sub(r"<(\w+\.\w+): '[^']*'>", r"\1", text)
    return re.sub(r", (?=(?:Value|Wave|Task|Step)\()", ",\n        ", text)  # so that a difference is a few lines


def written(folder: Path, chosen: Callable[[str], bool], *, with_sources: bool) -> None:
    """Compile the tasks that are chosen, and write what comes of it."""
    kernels.install()
    plans: list[DevicePlan] = []
    codes: dict[str, tuple[str, ...]] = {}

    class Kept(DevicePlan):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            plans.append(self)

    class Seen(kernels.RawModule):
        def __init__(self, *, code: str, options: tuple[str, ...], backend: str) -> None:
            super().__init__(code=code, options=options, backend=backend)
            codes[code] = options

    vars(replaying)["DevicePlan"] = Kept
    vars(sys.modules["cupy"])["RawModule"] = Seen
    optimizer = optim.Sgd(lr=0.1, momentum=0.9, weight_decay=1e-4, clip_norm=1.0)
    like = gpu(F32)
    folder.mkdir(exist_ok=True)
    for name, (model, own_loss, batch) in tasks(like).items():
        if not chosen(name):
            continue
        lows = (None, BF16) if with_sources and isinstance(batch, mx.Labelled) else (None,)
        for low in lows:
            step = mx.compile(gpu_sample.training(own_loss, optimizer, low))
            state, trained = optimizer.init(model), model
            for number in range(2):
                trained, state, _ = step(trained, state, batch, mx.Key(number))
            if low is None:
                (folder / f"{name}.txt").write_text(shown(plans[-1]), encoding="utf-8")
    if with_sources:
        by_hand = {sources.source(topic, element) for topic, element in sources.every_source()}
        for code, options in codes.items():
            if code not in by_hand:
                digest = blake2b(code.encode(), digest_size=8).hexdigest()
                (folder / f"{digest}.cu").write_text(f"// {' '.join(options)}\n{code}", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        written(Path(sys.argv[1]), lambda name: True, with_sources=True)
    else:
        written(FOLDER, lambda name: name in STORED, with_sources=False)
