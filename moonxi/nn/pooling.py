"""Pooling and resizing as layers; as functions they are methods of the tensor, ``x.max_pool2d(2)``."""

from dataclasses import dataclass

from jaxtyping import Float

from moonxi import settings, shapes
from moonxi.nn.layer import Layer
from moonxi.nn.mode import Mode
from moonxi.traits import ImageModelTensor, Pair


@dataclass(frozen=True)
class MaxPool2d(Layer):
    """The largest in each window; the stride is the kernel's size unless given."""

    kernel: Pair
    stride: Pair | None = None
    padding: Pair = 0
    dilation: Pair = 1
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        _check_windows(self, self.kernel, self.stride, self.padding)
        shapes.pair("MaxPool2d", "dilation", self.dilation, least=1)
        settings.flags("MaxPool2d", ceil_mode=self.ceil_mode)
        super().__post_init__()

    def forward[T: ImageModelTensor](
        self, x: Float[T, "batch channels height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch channels _ _"]:
        """Channel by channel; ``mode`` makes no difference.

        ``(x: Float[T, "batch channels height width"]) -> Float[T, "batch channels _ _"]``"""
        return x.max_pool2d(
            self.kernel,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            ceil_mode=self.ceil_mode,
        )


@dataclass(frozen=True)
class AvgPool2d(Layer):
    """The mean over each window; the stride is the kernel's size unless given."""

    kernel: Pair
    stride: Pair | None = None
    padding: Pair = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def __post_init__(self) -> None:
        _check_windows(self, self.kernel, self.stride, self.padding)
        settings.flags("AvgPool2d", ceil_mode=self.ceil_mode, count_include_pad=self.count_include_pad)
        super().__post_init__()

    def forward[T: ImageModelTensor](
        self, x: Float[T, "batch channels height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch channels _ _"]:
        """Channel by channel; ``mode`` makes no difference.

        ``(x: Float[T, "batch channels height width"]) -> Float[T, "batch channels _ _"]``"""
        return x.avg_pool2d(
            self.kernel,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            count_include_pad=self.count_include_pad,
        )


@dataclass(frozen=True)
class AdaptiveAvgPool2d(Layer):
    """Means over windows that divide the image into ``size`` rows and columns."""

    size: Pair

    def __post_init__(self) -> None:
        shapes.pair("AdaptiveAvgPool2d", "size", self.size, least=1)
        super().__post_init__()

    def forward[T: ImageModelTensor](
        self, x: Float[T, "batch channels height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch channels _ _"]:
        """Channel by channel; ``mode`` makes no difference.

        ``(x: Float[T, "batch channels height width"]) -> Float[T, "batch channels _ _"]``"""
        return x.adaptive_avg_pool2d(self.size)


@dataclass(frozen=True)
class GlobalAvgPool2d(Layer):
    """The mean of each channel over the whole image: ``(batch, channels)``."""

    def forward[T: ImageModelTensor](
        self, x: Float[T, "batch channels height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch channels"]:
        """Channel by channel; ``mode`` makes no difference.

        ``(x: Float[T, "batch channels height width"]) -> Float[T, "batch channels"]``"""
        return x.mean((2, 3))


@dataclass(frozen=True)
class UpsampleNearest2d(Layer):
    """Images that are ``scale`` times as high and wide, each pixel repeated."""

    scale: Pair

    def __post_init__(self) -> None:
        shapes.pair("UpsampleNearest2d", "scale", self.scale, least=1)
        super().__post_init__()

    def forward[T: ImageModelTensor](
        self, x: Float[T, "batch channels height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch channels _ _"]:
        """Channel by channel; ``mode`` makes no difference.

        ``(x: Float[T, "batch channels height width"]) -> Float[T, "batch channels _ _"]``"""
        return x.upsample_nearest2d(_scaled(x.shape, self.scale))


@dataclass(frozen=True)
class UpsampleBilinear2d(Layer):
    """Images that are ``scale`` times as high and wide, interpolated linearly in each direction."""

    scale: Pair
    align_corners: bool = False

    def __post_init__(self) -> None:
        shapes.pair("UpsampleBilinear2d", "scale", self.scale, least=1)
        settings.flags("UpsampleBilinear2d", align_corners=self.align_corners)
        super().__post_init__()

    def forward[T: ImageModelTensor](
        self, x: Float[T, "batch channels height width"], mode: Mode | None = None, /
    ) -> Float[T, "batch channels _ _"]:
        """Channel by channel; ``mode`` makes no difference.

        ``(x: Float[T, "batch channels height width"]) -> Float[T, "batch channels _ _"]``"""
        return x.upsample_bilinear2d(_scaled(x.shape, self.scale), align_corners=self.align_corners)


def _scaled(shape: tuple[int, ...], scale: Pair) -> tuple[int, int]:
    rows, columns = (scale, scale) if isinstance(scale, int) else scale
    return shape[2] * rows, shape[3] * columns


def _check_windows(layer: Layer, kernel: Pair, stride: Pair | None, padding: Pair) -> None:
    name = type(layer).__name__
    shapes.pair(name, "kernel", kernel, least=1)
    if stride is not None:
        shapes.pair(name, "stride", stride, least=1)
    shapes.pair(name, "padding", padding)
