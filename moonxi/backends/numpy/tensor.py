"""The trait `Tensor` on NumPy."""

from collections.abc import Callable
from typing import Any, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.backends.numpy import random
from moonxi.backends.numpy.indexed import NumpyIndexed
from moonxi.dtypes import Floating, HostArray
from moonxi.errors import LabelError, MoonxiError, OperandError, ShapeError
from moonxi.key import Key
from moonxi.traits import Labels, Shape
from moonxi.traits.foreign import described, kind, number

_LARGEST = np.iinfo(np.int64).max

type Draw = Callable[[Shape, Key, np.dtype[np.floating]], NDArray[np.floating]]


class NumpyTensor[D: Floating](NumpyIndexed[D]):
    """Making tensors, and reading them."""

    __slots__ = ()

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        number("full", "fill", fill)
        try:
            return type(self)(np.full(shape, fill, self.data.dtype))
        except (TypeError, ValueError) as error:
            shapes.sizes("full", shape)
            raise ShapeError(f"full: {shapes.show(shape)}: {error}") from error

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        if kind(array) not in "fiu":
            raise OperandError(
                f"from_host: {described(array)}: expected a NumPy array of real numbers; "
                "convert with numpy.asarray(values)"
            )
        return type(self)(np.array(array, dtype=self.data.dtype, order="C"))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        if kind(array) not in "iu":
            raise OperandError(
                f"labels: {described(array)}: expected a NumPy array of integers, one class index each; "
                "if these are whole numbers, convert with array.astype(numpy.int64)"
            )
        if array.dtype == np.uint64 and array.size and array.max() > _LARGEST:
            raise LabelError(f"labels: {described(array)}: {array.max()} is larger than int64 holds")
        carrier: Any = np.array(array, dtype=np.int64, order="C")
        return Labels(type(self)(carrier))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return self._drawn("uniform", random.uniform, shape, key)

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return self._drawn("normal", random.normal, shape, key)

    def _drawn(self, operation: str, draw: Draw, shape: Shape, key: Key) -> Self:
        try:
            return type(self)(draw(shapes.sizes(operation, shape), key, self.data.dtype))
        except (OverflowError, ValueError) as error:
            if isinstance(error, MoonxiError):
                raise
            raise ShapeError(f"{operation}: {shapes.show(shape)}: {error}") from error

    @override
    def to_host(self) -> HostArray:
        return self.data.copy()

    @override
    def item(self) -> float:
        shapes.item(self.shape)
        return float(self.data.item())

    @override
    def stop_gradient(self) -> Self:
        return self
