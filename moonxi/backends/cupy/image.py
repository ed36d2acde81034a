"""The trait `ImageTensor` on CUDA: see `moonxi.backends.cupy.tensor`."""

from typing import Self, Unpack, override

from moonxi.backends.cupy.blas import CudaBlas
from moonxi.backends.cupy.presence import missing
from moonxi.backends.cupy.tensor import CudaTensor
from moonxi.dtypes import Floating
from moonxi.traits import ConvOptions, DerivedImage, Labels, Pair, PoolOptions, Shape


class CudaImage[D: Floating](CudaBlas[D], DerivedImage[CudaTensor[D]]):
    """Convolutions by cuDNN."""

    __slots__ = ()

    @override
    def conv2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[ConvOptions]) -> Self:
        raise missing()

    @override
    def conv2d_input_grad(self, weight: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        raise missing()

    @override
    def conv2d_weight_grad(self, dy: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        raise missing()

    @override
    def max_pool2d_indices(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Labels[Self]:
        raise missing()

    @override
    def sum_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        raise missing()

    @override
    def sum_pool2d_grad(self, shape: Shape, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        raise missing()
