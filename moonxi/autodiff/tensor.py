"""`Grad[T]`: the trait `Tensor` under differentiation."""

from typing import Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi.autodiff.indexed import GradIndexed
from moonxi.dtypes import HostArray
from moonxi.key import Key
from moonxi.traits import Labels, Shape, Tensor


class Grad[T: Tensor](GradIndexed[T], Tensor):
    """A tensor ``value`` together with where it came from."""

    __slots__ = ()

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        return type(self)(self.value.full(shape, fill))

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        return type(self)(self.value.from_host(array))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        return Labels(type(self)(self.value.labels(array).carrier))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return type(self)(self.value.uniform(shape, key))

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return type(self)(self.value.normal(shape, key))

    @override
    def to_host(self) -> HostArray:
        return self.value.to_host()
