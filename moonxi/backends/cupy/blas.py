"""The trait `BlasTensor` on CUDA: see `moonxi.backends.cupy.tensor`."""

from typing import Self, override

from moonxi.backends.cupy.presence import missing
from moonxi.backends.cupy.tensor import CudaTensor
from moonxi.dtypes import Floating
from moonxi.traits import DerivedBlas


class CudaBlas[D: Floating](CudaTensor[D], DerivedBlas["CudaTensor[D]"]):
    """Matrix products by cuBLAS."""

    __slots__ = ()

    @override
    def matmul(self, other: Self, /) -> Self:
        raise missing()
