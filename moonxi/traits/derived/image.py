"""What an interpreter of `ImageTensor` owes and gets: six primitives, and the operations derived from them once."""

from abc import abstractmethod
from collections.abc import Callable
from math import prod
from typing import Literal, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.dtypes import HostArray
from moonxi.shapes import ConvOptions, Edges, MeanPoolOptions, Pair, PoolOptions, TransposeOptions, Window
from moonxi.traits.derived.blas import DerivedBlas
from moonxi.traits.labels import Labels
from moonxi.traits.notation import Shape
from moonxi.traits.tensor import Tensor

_PADS: dict[str, Literal["reflect", "edge", "wrap"]] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


class DerivedImage[I](DerivedBlas[I]):
    """The rest of the trait `ImageTensor` as well, for the interpreter ``I``."""

    __slots__ = ()

    @abstractmethod
    def conv2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[ConvOptions]) -> Self: ...
    @abstractmethod
    def conv2d_input_grad(self, weight: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self: ...
    @abstractmethod
    def conv2d_weight_grad(self, dy: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self: ...
    @abstractmethod
    def max_pool2d_indices(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Labels[Self]: ...
    @abstractmethod
    def sum_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self: ...
    @abstractmethod
    def sum_pool2d_grad(self, shape: Shape, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self: ...

    def conv_transpose2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[TransposeOptions]) -> Self:
        result = shapes.conv_transpose2d(self.shape, weight.shape, **options)
        convolution = ConvOptions(
            stride=options.get("stride", 1),
            padding=options.get("padding", 0),
            dilation=options.get("dilation", 1),
            groups=options.get("groups", 1),
        )
        # An output padding as wide as the stride holds places more than there are elements.
        places = shapes.conv2d(result, weight.shape, **convolution).shape
        part = (..., slice(self.shape[2]), slice(self.shape[3]))
        dy = self if places == self.shape else self.put_slice(part, places)
        y = dy.conv2d_input_grad(weight, result, **convolution)
        if bias is None:
            return y
        shapes.per_channel("conv_transpose2d (bias)", result, bias.shape)
        return y + _channels(bias, result)

    def max_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        batch, channels, height, width = shapes.image("max_pool2d", self.shape)
        indices = self.max_pool2d_indices(kernel, **options)
        planes = self.reshape((batch, channels, height * width))
        found = planes.gather(indices.reshape((batch, channels, prod(indices.shape[2:]))))
        return found.reshape(indices.shape)

    def max_pool2d_grad(self, dy: Self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        shapes.pool2d_grad("max_pool2d_grad", dy.shape, self.shape, kernel, **options)
        indices = self.max_pool2d_indices(kernel, **options)
        batch, channels, height, width = self.shape
        planes = (batch, channels, prod(dy.shape[2:]))
        return dy.reshape(planes).scatter_add(indices.reshape(planes), height * width).reshape(self.shape)

    def avg_pool2d(self, kernel: Pair, /, **options: Unpack[MeanPoolOptions]) -> Self:
        windows, count_include_pad = shapes.of_mean(**options)
        pool = shapes.pool2d("avg_pool2d", self.shape, kernel, **windows)
        places = pool.shape[2:]
        counts = self._computed(
            lambda: np.outer(_counts(pool.rows, count_include_pad), _counts(pool.columns, count_include_pad)), places
        )
        return self.sum_pool2d(kernel, **windows) / counts

    def adaptive_avg_pool2d(self, size: Pair, /) -> Self:
        _, _, rows, columns = shapes.resized("adaptive_avg_pool2d", self.shape, size)
        _, _, height, width = self.shape
        if height % rows == width % columns == 0:
            return self.avg_pool2d((height // rows, width // columns))
        return self._along(_shares, rows, columns)

    def upsample_nearest2d(self, size: Pair, /) -> Self:
        _, _, rows, columns = shapes.resized("upsample_nearest2d", self.shape, size)
        _, _, height, width = self.shape
        return self._chosen(
            self._places(lambda: np.arange(rows) * height // rows, rows, height),
            self._places(lambda: np.arange(columns) * width // columns, columns, width),
        )

    def upsample_bilinear2d(self, size: Pair, /, *, align_corners: bool = False) -> Self:
        _, _, rows, columns = shapes.resized("upsample_bilinear2d", self.shape, size)
        return self._along(_between_corners if align_corners else _between_centres, rows, columns)

    def pad2d(
        self,
        padding: Edges,
        /,
        *,
        mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
        fill: float = 0.0,
    ) -> Self:
        shape = shapes.pad2d(self.shape, padding, mode)
        (top, bottom), (left, right) = shapes.edges("pad2d", padding)
        _, _, height, width = self.shape
        if mode != "constant":
            pad = _PADS[mode]
            return self._chosen(
                self._places(lambda: np.pad(np.arange(height), (top, bottom), pad), shape[2], height),
                self._places(lambda: np.pad(np.arange(width), (left, right), pad), shape[3], width),
            )
        inside = (..., slice(top, top + height), slice(left, left + width))
        padded = self.put_slice(inside, shape)
        if fill == 0.0:
            return padded
        return padded.where(self.ones((height, width)).put_slice(inside, shape[2:]) > 0.0, fill)

    def batch_norm(self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> tuple[Self, Self, Self]:
        axes = shapes.per_channel("batch_norm", self.shape, weight.shape, bias.shape)
        shapes.several_values("batch_norm", self.shape)
        mean = self.mean(axes)
        centred = self - _channels(mean, self.shape)
        variance = centred.square().mean(axes)
        y = centred * _channels(weight / (variance + eps).sqrt(), self.shape) + _channels(bias, self.shape)
        return y, mean, variance

    def batch_norm_grad(
        self, dy: Self, weight: Self, mean: Self, variance: Self, /, *, eps: float = 1e-5
    ) -> tuple[Self, Self, Self]:
        axes = shapes.per_channel("batch_norm_grad", self.shape, weight.shape, mean.shape, variance.shape)
        shapes.equal("batch_norm_grad (tensor and gradient)", self.shape, dy.shape)
        scale = 1.0 / (variance + eps).sqrt()
        normal = (self - _channels(mean, self.shape)) * _channels(scale, self.shape)
        of_bias, of_weight = dy.sum(axes), (dy * normal).sum(axes)
        share = 1.0 / prod(self.shape[axis] for axis in axes)
        common = _channels(of_bias * share, self.shape) + normal * _channels(of_weight * share, self.shape)
        return (dy - common) * _channels(weight * scale, self.shape), of_weight, of_bias

    def batch_norm_with(self, mean: Self, variance: Self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> Self:
        shapes.per_channel("batch_norm_with", self.shape, mean.shape, variance.shape, weight.shape, bias.shape)
        scale = weight / (variance + eps).sqrt()
        return self * _channels(scale, self.shape) + _channels(bias - mean * scale, self.shape)

    def group_norm(self, groups: int, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> Self:
        shapes.group_norm(self.shape, groups, weight.shape, bias.shape)
        shape = (self.shape[0], groups, prod(self.shape[1:]) // groups)
        x = self.reshape(shape)
        centred = x - x.mean(2, keepdims=True)
        normal = centred / (centred.square().mean(2, keepdims=True) + eps).sqrt()
        return normal.reshape(self.shape) * _channels(weight, self.shape) + _channels(bias, self.shape)

    def _along(self, weights: Callable[[int, int], HostArray], rows: int, columns: int) -> Self:
        """Each row and each column a weighted sum of those of the image: two products of matrices."""
        batch, channels, height, width = self.shape
        across = self._computed(lambda: weights(width, columns), (width, columns))
        down = self._computed(lambda: weights(height, rows), (height, rows))
        wide = self.reshape((batch * channels * height, width)) @ across
        turned = wide.reshape((batch, channels, height, columns)).permute((0, 1, 3, 2))
        tall = turned.reshape((batch * channels * columns, height)) @ down
        return tall.reshape((batch, channels, columns, rows)).permute((0, 1, 3, 2))

    def _chosen(self, rows: Labels[Self], columns: Labels[Self]) -> Self:
        """The rows and columns with these indices."""
        return self.gather(columns).permute((0, 1, 3, 2)).gather(rows).permute((0, 1, 3, 2))

    # What is computed from symbolic sizes has no value, and in an interpreter of shapes alone needs none.

    def _computed(self, array: Callable[[], HostArray], shape: Shape) -> Self:
        """A tensor of numbers that depend on sizes."""
        return self.from_host(array()) if shapes.known(*self.shape, *shape) else self.zeros(shape)

    def _places(self, indices: Callable[[], NDArray[np.integer]], count: int, size: int) -> Labels[Self]:
        """As many indices of places along an axis of some size."""
        return self.labels(indices()) if shapes.known(count, size) else self.zeros((count, 1)).argmax(1)


def _channels[T: Tensor](vector: T, shape: Shape) -> T:
    """One element a channel, so that it broadcasts to a tensor ``(n, c, ...)`` of this shape."""
    return vector.reshape((shape[1], *(1 for _ in shape[2:])))


def _counts(window: Window[int], include_pad: bool) -> HostArray:
    """How many elements the window holds at each place along its axis."""
    start = np.arange(window.count) * window.stride - window.before
    pad = window.before if include_pad else 0
    counts: NDArray[np.integer] = np.minimum(start + window.kernel, window.size + pad) - np.maximum(start, -pad)
    return counts.astype(np.float64)


def _shares(size: int, count: int) -> HostArray:
    """The weights ``(size, count)`` of means over ``count`` windows that divide an axis."""
    places = np.arange(count)
    start, end = places * size // count, -(-(places + 1) * size // count)
    element = np.arange(size)[:, None]
    return ((start <= element) & (element < end)) / (end - start)


def _between_centres(size: int, count: int) -> HostArray:
    """The weights ``(size, count)`` of linear interpolation between the centres of pixels."""
    source: HostArray = (np.arange(count) + 0.5) * (size / count) - 0.5
    return _linear(size, np.maximum(source, 0.0))


def _between_corners(size: int, count: int) -> HostArray:
    """The weights ``(size, count)`` of linear interpolation from the first to the last element."""
    return _linear(size, np.arange(count) * ((size - 1) / max(count - 1, 1)))


def _linear(size: int, source: HostArray) -> HostArray:
    """Weights that pick the element at each of these places, or those on either side in proportion."""
    weights = np.zeros((size, source.size))
    places = np.arange(source.size)
    low = np.minimum(source.astype(np.int64), size - 1)
    weights[low, places] = 1.0 - (source - low)
    weights[np.minimum(low + 1, size - 1), places] += source - low
    return weights
