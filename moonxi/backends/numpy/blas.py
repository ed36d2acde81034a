"""The trait `BlasTensor` on NumPy."""

from typing import Self, override

from moonxi import shapes
from moonxi.backends.numpy.products import product
from moonxi.backends.numpy.stored import NumpyStored
from moonxi.backends.numpy.tensor import NumpyTensor
from moonxi.dtypes import Floating
from moonxi.traits import DerivedBlas


class NumpyBlas[D: Floating](NumpyTensor[D], DerivedBlas[NumpyStored[D]]):
    """Matrix products by the BLAS that NumPy is built with."""

    __slots__ = ()

    @override
    def matmul(self, other: Self, /) -> Self:
        right = self._tensor(other, "matmul")
        if self.data.ndim < 2 or right.ndim < 2:
            shapes.matmul(self.shape, right.shape)
        try:
            return type(self)(product(self.data, right))
        except ValueError:
            shapes.matmul(self.shape, right.shape)
            raise
