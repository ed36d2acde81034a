"""`Profiled[T]`: the trait `Tensor`, timed.

Every operation is the same operation of ``T``, derived ones too, so that what a backend does in its own way is what
runs and what is timed. Nothing is computed here.
"""

from typing import TYPE_CHECKING, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import HostArray
from moonxi.key import Key
from moonxi.profiled.indexed import ProfiledIndexed
from moonxi.traits import Labels, Shape, Tensor


class Profiled[T: Tensor](ProfiledIndexed[T]):
    """A tensor ``value`` whose operations are timed in ``profile``; of two operands, in that of the first.

    Results are bit for bit those of ``T``. Make one with `moonxi.profile`."""

    __slots__ = ()

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        return self.timed("full", lambda: self.value.full(shape, fill))

    @override
    def zeros(self, shape: Shape, /) -> Self:
        return self.timed("zeros", lambda: self.value.zeros(shape))

    @override
    def ones(self, shape: Shape, /) -> Self:
        return self.timed("ones", lambda: self.value.ones(shape))

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        return self.timed("from_host", lambda: self.value.from_host(array))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        return self._timed_labels("labels", lambda: self.value.labels(array))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return self.timed("uniform", lambda: self.value.uniform(shape, key))

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return self.timed("normal", lambda: self.value.normal(shape, key))

    @override
    def to_host(self) -> HostArray:
        return self._read("to_host", self.value.to_host)

    @override
    def item(self) -> float:
        return self._read("item", self.value.item)

    @override
    def stop_gradient(self) -> Self:
        return self.timed("stop_gradient", self.value.stop_gradient)


if TYPE_CHECKING:

    def _conforms[T: Tensor](_: type[Profiled[T]]) -> type[Tensor]:
        return Profiled[T]
