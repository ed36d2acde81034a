"""ResNet-18 (He et al. 2016)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi.key import Key
from moonxi.losses import Logits
from moonxi.nn.convolution import Conv2d
from moonxi.nn.initializers import xavier_normal
from moonxi.nn.linear import Linear
from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.nn.normalisation import BatchNorm2d
from moonxi.nn.residual import residual
from moonxi.traits import ImageModelTensor


@dataclass(frozen=True)
class ConvNorm[T: ImageModelTensor](Module[T]):
    """A convolution and the normalisation of its result."""

    conv: Conv2d[T]
    norm: BatchNorm2d[T]

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "ConvNorm[U]": ...

    @classmethod
    def init(
        cls, inputs: int, outputs: int, kernel: int, /, *, like: T, key: Key, stride: int = 1, bias: bool = True
    ) -> "ConvNorm[T]":
        """Padded so that a stride of 1 keeps the size; weights normal with variance 2 / fan_in."""
        conv = Conv2d.init(inputs, outputs, kernel, like=like, key=key, stride=stride, padding=kernel // 2, bias=bias)
        return cls(conv, BatchNorm2d.init(outputs, like=like))

    def forward(
        self, x: Float[T, "batch {self.conv.inputs} height width"], mode: Mode, /
    ) -> Float[T, "batch {self.conv.outputs} _ _"]:
        """The convolution, normalised.

        ``(x: Float[T, "batch {self.conv.inputs} height width"]) -> Float[T, "batch {self.conv.outputs} _ _"]``"""
        return self.norm.forward(self.conv.forward(x), mode)


@dataclass(frozen=True)
class BasicBlock[T: ImageModelTensor](Module[T]):
    """Two convolutions of 3 x 3 around which the input is led, through one of 1 x 1 where the shape changes."""

    first: ConvNorm[T]
    second: ConvNorm[T]
    shortcut: ConvNorm[T] | None

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "BasicBlock[U]": ...

    @classmethod
    def init(
        cls, inputs: int, outputs: int, /, *, like: T, key: Key, stride: int = 1, bias: bool = True
    ) -> "BasicBlock[T]":
        """A block with random weights where ``like`` lives."""
        first, second, short = key.split(3)
        shortcut = None
        if stride != 1 or inputs != outputs:
            shortcut = ConvNorm.init(inputs, outputs, 1, like=like, key=short, stride=stride, bias=bias)
        return cls(
            ConvNorm.init(inputs, outputs, 3, like=like, key=first, stride=stride, bias=bias),
            ConvNorm.init(outputs, outputs, 3, like=like, key=second, bias=bias),
            shortcut,
        )

    def forward(
        self, x: Float[T, "batch {self.first.conv.inputs} height width"], mode: Mode, /
    ) -> Float[T, "batch {self.second.conv.outputs} _ _"]:
        """``relu(second(relu(first(x))) + shortcut(x))``.

        ``(x: Float[T, "batch {self.first.conv.inputs} height width"]) -> Float[T, "batch {self.second.conv.outputs} _
        _"]``"""
        h = self.first.forward(x, mode).relu()
        h = self.second.forward(h, mode)
        return residual(h, x if self.shortcut is None else self.shortcut.forward(x, mode)).relu()


@dataclass(frozen=True)
class ResNet18[T: ImageModelTensor](Module[T]):
    """A stem, four stages of two blocks with 64, 128, 256 and 512 channels, the global mean and a linear layer.

    The stem is a convolution of 7 x 7 with stride 2 and max pooling of 3 x 3 with stride 2; for small images,
    ``small=True``, it is a convolution of 3 x 3 alone."""

    stem: ConvNorm[T]
    blocks: tuple[BasicBlock[T], ...]
    head: Linear[T]
    small: bool = False

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "ResNet18[U]": ...

    @classmethod
    def init(
        cls, *, like: T, key: Key, classes: int = 10, channels: int = 3, small: bool = False, bias: bool = True
    ) -> "ResNet18[T]":
        """Convolutions normal with variance 2 / fan_in, the head with variance 2 / (fan_in + fan_out); biases 0.

        ``bias=False`` leaves the biases of the convolutions out, as torchvision does."""
        stem, head, rest = key.split(3)
        keys = rest.split(8)
        widths = (64, 64, 128, 256, 512)
        blocks: list[BasicBlock[T]] = []
        for stage, (inputs, outputs) in enumerate(pairwise(widths)):
            stride = 1 if stage == 0 else 2
            first, second = keys[2 * stage : 2 * stage + 2]
            blocks.append(BasicBlock.init(inputs, outputs, like=like, key=first, stride=stride, bias=bias))
            blocks.append(BasicBlock.init(outputs, outputs, like=like, key=second, bias=bias))
        kernel, step = (3, 1) if small else (7, 2)
        return cls(
            ConvNorm.init(channels, 64, kernel, like=like, key=stem, stride=step, bias=bias),
            tuple(blocks),
            Linear.init(512, classes, like=like, key=head, weight=xavier_normal),
            small,
        )

    def forward(self, x: Float[T, "batch {self.stem.conv.inputs} height width"], mode: Mode, /) -> Logits[T]:
        """The score of each class.

        ``(x: Float[T, "batch {self.stem.conv.inputs} height width"]) -> Logits[T]``"""
        h = self.stem.forward(x, mode).relu()
        if not self.small:
            h = h.max_pool2d(3, stride=2, padding=1)
        for block in self.blocks:
            h = block.forward(h, mode)
        return Logits(self.head.forward(h.mean((2, 3))))
