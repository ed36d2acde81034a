"""Convolutional layers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi import settings, shapes
from moonxi.dims import provably_different
from moonxi.errors import OptionError
from moonxi.key import Key
from moonxi.nn.initializers import Initializer, kaiming_normal
from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.traits import ImageModelTensor, Padding, Pair


@dataclass(frozen=True)
class Conv2d[T: ImageModelTensor](Module[T]):
    """A convolution of images. The weight is ``(outputs, inputs / groups, rows, columns)``, as PyTorch's."""

    weight: Float[T, "outputs group_inputs rows columns"]
    bias: Float[T, " outputs"] | None
    stride: Pair = 1
    padding: Padding = 0
    dilation: Pair = 1
    groups: int = 1

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "Conv2d[U]": ...

    def __post_init__(self) -> None:
        if self.padding != "same":
            shapes.pair("Conv2d", "padding", self.padding)
        _check_steps("Conv2d", self.stride, self.dilation, self.groups)
        super().__post_init__()

    @classmethod
    def init(
        cls,
        inputs: int,
        outputs: int,
        kernel: Pair,
        /,
        *,
        like: T,
        key: Key,
        stride: Pair = 1,
        padding: Padding = 0,
        dilation: Pair = 1,
        groups: int = 1,
        weight: Initializer = kaiming_normal,
        bias: bool = True,
    ) -> "Conv2d[T]":
        """A new layer where ``like`` lives, with a bias of zeros if it has one."""
        _check_channels("Conv2d", inputs, outputs, groups)
        rows, columns = shapes.pair("Conv2d", "kernel", kernel, least=1)
        first = weight(like, (outputs, inputs // groups, rows, columns), key)
        return cls(first, like.zeros((outputs,)) if bias else None, stride, padding, dilation, groups)

    @property
    def inputs(self) -> int:
        """The number of channels that it takes."""
        return self.weight.shape[1] * self.groups

    @property
    def outputs(self) -> int:
        """The number of channels that it gives."""
        return self.weight.shape[0]

    def forward(
        self, x: Float[T, "batch {self.inputs} height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch {self.outputs} _ _"]:
        """The convolution; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "batch {self.inputs} height width"]) -> Float[T, "batch {self.outputs} _ _"]``"""
        return x.conv2d(
            self.weight,
            self.bias,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            groups=self.groups,
        )


@dataclass(frozen=True)
class ConvTranspose2d[T: ImageModelTensor](Module[T]):
    """A transposed convolution. The weight is ``(inputs, outputs / groups, rows, columns)``, as PyTorch's."""

    weight: Float[T, "inputs group_outputs rows columns"]
    bias: Float[T, " outputs"] | None
    stride: Pair = 1
    padding: Pair = 0
    output_padding: Pair = 0
    dilation: Pair = 1
    groups: int = 1

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "ConvTranspose2d[U]": ...

    def __post_init__(self) -> None:
        shapes.pair("ConvTranspose2d", "padding", self.padding)
        shapes.pair("ConvTranspose2d", "output_padding", self.output_padding)
        _check_steps("ConvTranspose2d", self.stride, self.dilation, self.groups)
        super().__post_init__()

    @classmethod
    def init(
        cls,
        inputs: int,
        outputs: int,
        kernel: Pair,
        /,
        *,
        like: T,
        key: Key,
        stride: Pair = 1,
        padding: Pair = 0,
        output_padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
        weight: Initializer = kaiming_normal,
        bias: bool = True,
    ) -> "ConvTranspose2d[T]":
        """A new layer where ``like`` lives, with a bias of zeros if it has one."""
        _check_channels("ConvTranspose2d", inputs, outputs, groups)
        rows, columns = shapes.pair("ConvTranspose2d", "kernel", kernel, least=1)
        first = weight(like, (inputs, outputs // groups, rows, columns), key)
        zeros = like.zeros((outputs,)) if bias else None
        return cls(first, zeros, stride, padding, output_padding, dilation, groups)

    @property
    def inputs(self) -> int:
        """The number of channels that it takes."""
        return self.weight.shape[0]

    @property
    def outputs(self) -> int:
        """The number of channels that it gives."""
        return self.weight.shape[1] * self.groups

    def forward(
        self, x: Float[T, "batch {self.inputs} height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch {self.outputs} _ _"]:
        """The transposed convolution; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "batch {self.inputs} height width"]) -> Float[T, "batch {self.outputs} _ _"]``"""
        return x.conv_transpose2d(
            self.weight,
            self.bias,
            stride=self.stride,
            padding=self.padding,
            output_padding=self.output_padding,
            dilation=self.dilation,
            groups=self.groups,
        )


def _check_channels(layer: str, inputs: int, outputs: int, groups: int) -> None:
    settings.whole(layer, 1, inputs=inputs, outputs=outputs, groups=groups)
    if provably_different(inputs % groups, 0) or provably_different(outputs % groups, 0):
        raise OptionError(f"{layer}: {inputs} inputs, {outputs} outputs, groups={groups}: groups must divide both")


def _check_steps(layer: str, stride: Pair, dilation: Pair, groups: int) -> None:
    shapes.pair(layer, "stride", stride, least=1)
    shapes.pair(layer, "dilation", dilation, least=1)
    settings.whole(layer, 1, groups=groups)
