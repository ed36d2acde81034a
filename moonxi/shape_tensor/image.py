"""The trait `ImageTensor` on shapes alone."""

from typing import Literal, Self, Unpack, override

from moonxi import shapes
from moonxi.shape_tensor.blas import SymbolicBlas
from moonxi.shape_tensor.tensor import SymbolicTensor
from moonxi.traits import (
    ConvOptions,
    DerivedImage,
    Edges,
    Labels,
    MeanPoolOptions,
    Pair,
    PoolOptions,
    Shape,
    TransposeOptions,
)


class SymbolicImage(SymbolicBlas, DerivedImage[SymbolicTensor]):
    """The rules of images; nothing is derived that would compute with the sizes."""

    __slots__ = ()

    # -- convolution -------------------------------------------------------------------------------------------

    @override
    def conv2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[ConvOptions]) -> Self:
        result = shapes.conv2d(self._shape, self._sizes(weight, "conv2d"), **options).shape
        if bias is not None:
            shapes.per_channel("conv2d (bias)", result, self._sizes(bias, "conv2d (bias)"))
        return self._new(result)

    @override
    def conv2d_input_grad(self, weight: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        shapes.conv2d_input_grad(self._shape, self._sizes(weight, "conv2d_input_grad"), shape, **options)
        return self._new(shape)

    @override
    def conv2d_weight_grad(self, dy: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        shapes.conv2d_weight_grad(self._shape, self._sizes(dy, "conv2d_weight_grad"), shape, **options)
        return self._new(shape)

    @override
    def conv_transpose2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[TransposeOptions]) -> Self:
        result = shapes.conv_transpose2d(self._shape, self._sizes(weight, "conv_transpose2d"), **options)
        if bias is not None:
            shapes.per_channel("conv_transpose2d (bias)", result, self._sizes(bias, "conv_transpose2d (bias)"))
        return self._new(result)

    # -- pooling -------------------------------------------------------------------------------------------------

    @override
    def max_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        return self._new(shapes.pool2d("max_pool2d", self._shape, kernel, **options).shape)

    @override
    def max_pool2d_indices(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Labels[Self]:
        return self._labels(shapes.pool2d("max_pool2d_indices", self._shape, kernel, **options).shape)

    @override
    def max_pool2d_grad(self, dy: Self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        shapes.pool2d_grad("max_pool2d_grad", self._sizes(dy, "max_pool2d_grad"), self._shape, kernel, **options)
        return self._new(self._shape)

    @override
    def sum_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        return self._new(shapes.pool2d("sum_pool2d", self._shape, kernel, **options).shape)

    @override
    def sum_pool2d_grad(self, shape: Shape, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        shapes.pool2d_grad("sum_pool2d_grad", self._shape, shape, kernel, **options)
        return self._new(shape)

    @override
    def avg_pool2d(self, kernel: Pair, /, **options: Unpack[MeanPoolOptions]) -> Self:
        windows, _ = shapes.of_mean(**options)
        return self._new(shapes.pool2d("avg_pool2d", self._shape, kernel, **windows).shape)

    @override
    def adaptive_avg_pool2d(self, size: Pair, /) -> Self:
        return self._new(shapes.resized("adaptive_avg_pool2d", self._shape, size))

    # -- size ----------------------------------------------------------------------------------------------------

    @override
    def upsample_nearest2d(self, size: Pair, /) -> Self:
        return self._new(shapes.resized("upsample_nearest2d", self._shape, size))

    @override
    def upsample_bilinear2d(self, size: Pair, /, *, align_corners: bool = False) -> Self:
        return self._new(shapes.resized("upsample_bilinear2d", self._shape, size))

    @override
    def pad2d(
        self,
        padding: Edges,
        /,
        *,
        mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
        fill: float = 0.0,
    ) -> Self:
        return self._new(shapes.pad2d(self._shape, padding, mode))

    # -- normalisation -------------------------------------------------------------------------------------------

    @override
    def group_norm(self, groups: int, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> Self:
        vectors = self._sizes(weight, "group_norm"), self._sizes(bias, "group_norm")
        shapes.group_norm(self._shape, groups, *vectors)
        return self._new(self._shape)
