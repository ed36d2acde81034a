"""The trait `Tensor`, its shape and order, on NumPy: views where NumPy has views."""

from typing import Self, override

import numpy as np

from moonxi import shapes
from moonxi.backends.numpy.reducing import NumpyReducing
from moonxi.dtypes import Floating
from moonxi.errors import ShapeError
from moonxi.traits import Index, Shape


class NumpyShaping[D: Floating](NumpyReducing[D]):
    """Moving, joining and cutting."""

    __slots__ = ()

    @override
    def reshape(self, shape: Shape, /) -> Self:
        if shape.__class__ is not tuple or (shape and min(shape) < -1):  # NumPy takes any negative size for -1
            shapes.reshape(self.shape, shape)
        try:
            return type(self)(self.data.reshape(shape))
        except (TypeError, ValueError):
            shapes.reshape(self.shape, shape)
            raise

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        try:
            return type(self)(self.data.transpose(axes))
        except (TypeError, ValueError):
            shapes.permute(self.shape, axes)
            raise

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        try:
            return type(self)(np.broadcast_to(self.data, shape))
        except (TypeError, ValueError) as error:
            shapes.broadcast_to(self.shape, shape)
            raise ShapeError(f"broadcast_to: {shapes.show(self.shape)} to {shapes.show(shape)}: {error}") from error

    @override
    def __getitem__(self, index: Index, /) -> Self:
        shapes.index_kinds(index)
        try:
            return type(self)(self.data[index])
        except (IndexError, TypeError, ValueError):
            shapes.indexed(self.shape, index)
            raise

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        shapes.index_kinds(index)
        out = np.zeros(shapes.put_slice(self.shape, index, shape), self.data.dtype)
        out[index] = self.data
        return type(self)(out)

    @override
    def concatenate(self, *others: Self, axis: int) -> Self:
        arrays = [self.data, *(self._tensor(other, "concatenate") for other in others)]
        try:
            return type(self)(np.concatenate(arrays, axis))
        except (TypeError, ValueError):
            shapes.concatenate(*(array.shape for array in arrays), axis=axis)
            raise
