"""The trait `BlasTensor` on shapes alone."""

from typing import Self, override

from moonxi import shapes
from moonxi.shape_tensor.tensor import SymbolicTensor
from moonxi.traits import DerivedBlas


class SymbolicBlas(SymbolicTensor, DerivedBlas["SymbolicTensor"]):
    """Products of matrices."""

    __slots__ = ()

    @override
    def matmul(self, other: Self, /) -> Self:
        return self._new(shapes.matmul(self._shape, self._sizes(other, "matmul")))
