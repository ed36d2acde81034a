"""The trait `Tensor`, by index, on NumPy."""

from math import prod
from typing import Any, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.backends.numpy.shaping import NumpyShaping
from moonxi.dtypes import Floating, HostArray
from moonxi.traits import Labels, Shape
from moonxi.traits.class_indices import checked


class NumpyIndexed[D: Floating](NumpyShaping[D]):
    """Finding, sorting, choosing and putting."""

    __slots__ = ()

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        axis = shapes.axis(self.shape, axis, "argmax")
        shapes.nothing_to_reduce("argmax", self.shape, axis)
        indices: Any = np.argmax(self.data, axis=axis)
        return Labels(type(self)(indices))

    @override
    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        axis = shapes.axis(self.shape, axis, "argsort")
        if not descending:
            return Labels(type(self)(_carrier(np.argsort(self.data, axis, stable=True))))
        # Sorted from the other end and turned round, equal elements keep their order.
        turned = np.flip(np.argsort(np.flip(self.data, axis), axis, stable=True), axis)
        return Labels(type(self)(_carrier(self.shape[axis] - 1 - turned)))

    @override
    def take(self, labels: Labels[Self], axis: int, /) -> Self:
        axis = shapes.axis(self.shape, axis, "take")
        found = checked(self._held(labels, "take"), self.shape[axis], "take")
        return type(self)(np.take(self.data, found, axis))

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        shapes.gather(self.shape, labels.shape)
        found = checked(self._held(labels, "gather"), self.shape[-1], "gather")
        if found.ndim == 1:
            return type(self)(np.take(self.data, found, -1))
        found = found.reshape((1,) * (self.data.ndim - found.ndim) + found.shape)
        return type(self)(np.take_along_axis(self.data, found, -1))

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        shape = shapes.scatter_add(self.shape, labels.shape, size)
        found = checked(self._held(labels, "scatter_add"), size, "scatter_add")
        row: Any = np.arange(0, prod(shape), size).reshape((*shape[:-1], 1)) if size else 0
        places: NDArray[np.intp] = np.broadcast_to(found + row, self.shape)
        sums = np.bincount(places.reshape(-1), self.data.reshape(-1), prod(shape))  # in float64
        return type(self)(sums.astype(self.data.dtype).reshape(shape))

    @override
    def pick(self, labels: Labels[Self], /) -> Self:
        shape = shapes.pick(self.shape, labels.shape)
        flat = checked(self._held(labels, "pick"), self.shape[-1], "pick").reshape(-1)
        return type(self)(self.data.reshape(flat.size, self.shape[-1])[np.arange(flat.size), flat].reshape(shape))

    @override
    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        shape = shapes.put(self.shape, labels.shape, classes)
        return self._spread(self.data.reshape(-1), checked(self._held(labels, "put"), classes, "put"), shape)

    @override
    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        shape = shapes.one_hot(labels.shape, classes)
        return self._spread(1.0, checked(self._held(labels, "one_hot"), classes, "one_hot"), shape)

    def _spread(self, values: HostArray | float, labels: NDArray[Any], shape: Shape) -> Self:
        """The values at the labels' places along the last axis, and zeros."""
        out = np.zeros((labels.size, shape[-1]), self.data.dtype)
        out[np.arange(labels.size), labels.reshape(-1)] = values
        return type(self)(out.reshape(shape))


def _carrier(indices: Any) -> Any:
    """Indices as the elements of a carrier."""
    return indices.astype(np.int64, copy=False)
