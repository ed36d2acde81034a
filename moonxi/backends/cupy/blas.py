"""The trait `BlasTensor` on CUDA."""

from typing import Self, override

from moonxi import shapes
from moonxi.backends.cupy.products import product
from moonxi.backends.cupy.tensor import CudaTensor
from moonxi.dtypes import Floating
from moonxi.traits import DerivedBlas


class CudaBlas[D: Floating](CudaTensor[D], DerivedBlas["CudaTensor[D]"]):
    """Matrix products by cuBLAS; F16 and BF16 are summed in single precision."""

    __slots__ = ()

    @override
    def matmul(self, other: Self, /) -> Self:
        right = self._tensor(other, "matmul")
        shape = shapes.matmul(self.data.shape, right.shape)
        return type(self)(product(self.space, self.data, right, shape), self.space)
