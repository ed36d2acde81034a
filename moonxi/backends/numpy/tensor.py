"""The trait `Tensor` on NumPy.

Floating-point warnings are NumPy's own and follow ``numpy.errstate``. NumPy checks shapes itself; where it refuses,
the rule in `moonxi.shapes` says why.
"""

from collections.abc import Callable
from math import prod
from typing import Any, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.backends.numpy import random
from moonxi.backends.numpy.class_indices import checked
from moonxi.backends.numpy.selection import selected
from moonxi.dtypes import F32, F64, I64, Bool, DType, Floating, HostArray
from moonxi.errors import OperandError
from moonxi.key import Key
from moonxi.traits import Axes, DerivedTensor, Index, Labels, Mask, Shape

_ELEMENTS: dict[np.dtype[Any], type[DType]] = {np.dtype(d.type): d for d in (F32, F64, I64, Bool)}
# NumPy's own signatures ask for keepdims as a literal.
_sum: Callable[..., HostArray] = np.add.reduce
_max: Callable[..., HostArray] = np.maximum.reduce


class NumpyTensor[D: Floating](DerivedTensor["NumpyTensor[D]"]):
    """A read-only ndarray. Results are made by ``type(self)(array)``, so that a subclass stays itself."""

    __slots__ = ("data",)

    def __init__(self, data: HostArray, /) -> None:
        if data.__class__ is not np.ndarray:
            data = np.asarray(data)  # NumPy gives scalars, not arrays, for results without axes
        data.flags.writeable = False
        self.data = data

    @override
    def __reduce__(self) -> tuple[Callable[..., Self], tuple[HostArray]]:
        return type(self), (self.data,)

    @override
    def __repr__(self) -> str:
        values = np.array2string(self.data, threshold=20, edgeitems=2, precision=4, separator=", ")
        return f"{type(self).__name__}[{self.dtype.__name__}] {shapes.show(self.shape)} {values}"

    @property
    @override
    def shape(self) -> Shape:
        return self.data.shape

    @property
    @override
    def dtype(self) -> type[DType]:
        return _ELEMENTS[self.data.dtype]

    # -- operands ------------------------------------------------------------------------------------------------

    def _tensor(self, other: Self, operation: str) -> HostArray:
        """The array of an operand that must be a tensor of this backend and element type."""
        if isinstance(other, NumpyTensor) and other.data.dtype == self.data.dtype:
            return other.data
        mine = f"{type(self).__name__}[{self.dtype.__name__}]"
        raise OperandError(f"{operation}: {mine} with {_describe(other)}: both operands must be {mine}{_advice(other)}")

    def _operand(self, other: Self | float, operation: str) -> HostArray | float:
        """The array of an operand, or a plain float, which leaves the element type alone."""
        return float(other) if isinstance(other, (float, int)) else self._tensor(other, operation)

    def _binary(
        self, function: Callable[[HostArray, HostArray | float], Any], operation: str, other: Self | float
    ) -> Self:
        right: HostArray | float
        if isinstance(other, NumpyTensor) and other.data.dtype is self.data.dtype:
            right = other.data
        else:
            right = self._operand(other, operation)
        try:
            return type(self)(function(self.data, right))
        except ValueError:
            shapes.broadcast(operation, self.shape, np.shape(right))
            raise

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> NDArray[Any]:
        """The array of labels or of a mask, which must live in this backend."""
        if not isinstance(held.carrier, NumpyTensor):
            mine = f"{type(self).__name__}[{self.dtype.__name__}]"
            raise OperandError(
                f"{operation}: {mine} with {type(held).__name__} of {_describe(held.carrier)}: both must live in "
                "the same tensor class"
            )
        return held.carrier.data

    # -- from and to the host --------------------------------------------------------------------------------

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        try:
            return type(self)(np.full(shape, fill, self.data.dtype))
        except ValueError:
            shapes.sizes("full", shape)
            raise

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        if _kind(array) not in "fiu":
            raise OperandError(
                f"from_host: {_describe(array)}: expected a NumPy array of real numbers; "
                "convert with numpy.asarray(values)"
            )
        return type(self)(np.array(array, dtype=self.data.dtype, order="C"))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        if _kind(array) not in "iu":
            raise OperandError(
                f"labels: {_describe(array)}: expected a NumPy array of integers, one class index each; "
                "if these are whole numbers, convert with array.astype(numpy.int64)"
            )
        carrier: Any = np.array(array, dtype=np.int64, order="C")
        return Labels(type(self)(carrier))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return type(self)(random.uniform(shapes.sizes("uniform", shape), key, self.data.dtype))

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return type(self)(random.normal(shapes.sizes("normal", shape), key, self.data.dtype))

    @override
    def to_host(self) -> HostArray:
        return self.data.copy()

    @override
    def item(self) -> float:
        shapes.item(self.shape)
        return float(self.data.item())

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        return self._binary(np.add, "add", other)

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        return self._binary(np.subtract, "subtract", other)

    @override
    def __rsub__(self, other: float, /) -> Self:
        return type(self)(np.subtract(self._operand(other, "subtract"), self.data))

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        return self._binary(np.multiply, "multiply", other)

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        return self._binary(np.divide, "divide", other)

    @override
    def __rtruediv__(self, other: float, /) -> Self:
        return type(self)(np.divide(self._operand(other, "divide"), self.data))

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        return self._binary(np.power, "power", other)

    @override
    def __neg__(self) -> Self:
        return type(self)(np.negative(self.data))

    @override
    def exp(self) -> Self:
        return type(self)(np.exp(self.data))

    @override
    def log(self) -> Self:
        return type(self)(np.log(self.data))

    @override
    def tanh(self) -> Self:
        return type(self)(np.tanh(self.data))

    @override
    def sqrt(self) -> Self:
        return type(self)(np.sqrt(self.data))

    @override
    def floor(self) -> Self:
        return type(self)(np.floor(self.data))

    @override
    def square(self) -> Self:
        return type(self)(np.square(self.data))

    @override
    def relu(self) -> Self:
        return type(self)(np.maximum(self.data, 0.0))

    @override
    def maximum(self, other: Self | float, /) -> Self:
        return self._binary(np.maximum, "maximum", other)

    # -- comparison ----------------------------------------------------------------------------------------------

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.less, "less", other))

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.less_equal, "less_equal", other))

    @override
    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.greater, "greater", other))

    @override
    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.greater_equal, "greater_equal", other))

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.equal, "equal", other))

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        condition = self._held(mask, "where")
        right = self._operand(other, "where")
        try:
            if self.data.dtype.kind == "f":
                return type(self)(selected(condition, self.data, right))
            return type(self)(np.where(condition, self.data, right))
        except ValueError:
            shapes.broadcast("where", condition.shape, self.shape, np.shape(right))
            raise

    # -- reductions ----------------------------------------------------------------------------------------------

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        if not self.data.ndim:  # NumPy lets axis 0 of a scalar pass
            shapes.axes((), axes, "sum")
        try:
            return type(self)(_sum(self.data, axis=axes, keepdims=keepdims))
        except ValueError:
            shapes.axes(self.shape, axes, "sum")
            raise

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        if not self.data.ndim:  # as in sum
            shapes.axes((), axes, "max")
        try:
            return type(self)(_max(self.data, axis=axes, keepdims=keepdims))
        except ValueError:
            shapes.nothing_to_reduce("max", self.shape, axes)
            raise

    # -- shape ---------------------------------------------------------------------------------------------------

    @override
    def reshape(self, shape: Shape, /) -> Self:
        if shape and min(shape) < -1:  # NumPy takes any negative size for -1
            shapes.reshape(self.shape, shape)
        try:
            return type(self)(self.data.reshape(shape))
        except ValueError:
            shapes.reshape(self.shape, shape)
            raise

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        try:
            return type(self)(self.data.transpose(axes))
        except ValueError:
            shapes.permute(self.shape, axes)
            raise

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        try:
            return type(self)(np.broadcast_to(self.data, shape))
        except ValueError:
            shapes.broadcast_to(self.shape, shape)
            raise

    @override
    def __getitem__(self, index: Index, /) -> Self:
        shapes.index_kinds(index)
        try:
            return type(self)(self.data[index])
        except (IndexError, ValueError):
            shapes.indexed(self.shape, index)
            raise

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        shapes.index_kinds(index)
        out = np.zeros(shapes.put_slice(self.shape, index, shape), self.data.dtype)
        out[index] = self.data
        return type(self)(out)

    # -- classes -------------------------------------------------------------------------------------------------

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        axis = shapes.axis(self.shape, axis, "argmax")
        shapes.nothing_to_reduce("argmax", self.shape, axis)
        indices: Any = np.argmax(self.data, axis=axis)
        return Labels(type(self)(indices))

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

    @override
    def stop_gradient(self) -> Self:
        return self


def _kind(value: object) -> str:
    """The kind of an array's elements, as NumPy abbreviates it; for anything but an array, one that nobody takes."""
    return value.dtype.kind if isinstance(value, np.ndarray) else "?"


def _describe(value: object) -> str:
    """What an unsuitable operand is, in a few words."""
    if isinstance(value, np.ndarray):
        return f"ndarray of {value.dtype} {shapes.show(value.shape)}"
    dtype = getattr(value, "dtype", None)
    return f"{type(value).__name__}[{dtype.__name__}]" if isinstance(dtype, type) else type(value).__name__


def _advice(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "; bring the array in with x.from_host(array)"
    if isinstance(value, np.generic):
        return "; give a Python number, float(value)"
    if isinstance(value, NumpyTensor):
        return "; convert with x.from_host(y.to_host())"
    return ""
