"""A column: `Precise`, a tensor class whose numbers have as many decimal digits as you like.

It has nothing to do with any backend: its elements are Python's `decimal.Decimal`. It writes the primitives of the
traits `Tensor` and `BlasTensor` and gets everything else from moonxi, differentiation to any order too.
"""

import decimal
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import F64, Key, Labels, Mask, MlpTensor, numpy, shapes
from moonxi.dtypes import I64, Bool, DType, HostArray
from moonxi.errors import LabelError, OperandError
from moonxi.traits import Axes, DerivedBlas, Index, Shape
from moonxi_more import series

type Elements = NDArray[Any]
"""Of Decimals in a tensor, of int64 in labels, of booleans in masks."""

_ZERO, _ONE = Decimal(0), Decimal(1)
_NUMBERS = (float, int)


class Precise(DerivedBlas["Precise"]):
    """An immutable array, computed with ``digits`` decimal digits. It goes to and from the host as `F64`."""

    __slots__ = ("data", "digits")

    def __init__(self, data: Elements, digits: int, /) -> None:
        self.data = np.asarray(data)
        self.data.flags.writeable = False
        self.digits = digits

    @override
    def __repr__(self) -> str:
        return f"Precise[{self.digits} digits] {shapes.show(self.shape)} {self.data}"

    @property
    @override
    def shape(self) -> Shape:
        return self.data.shape

    @property
    @override
    def dtype(self) -> type[DType]:
        return {"O": F64, "i": I64, "b": Bool}[self.data.dtype.kind]

    @property
    def alike(self) -> int:
        """The digits: a compiled step is for tensors of one number of them."""
        return self.digits

    def decimals(self) -> NDArray[np.object_]:
        """A copy of the elements with all their digits."""
        return self.data.astype(object)

    # -- computing -----------------------------------------------------------------------------------------------

    def _new(self, compute: Callable[[], object]) -> Self:
        """A tensor like this one of what is computed with its digits, and with infinity and NaN in place of errors."""
        with decimal.localcontext(decimal.Context(prec=self.digits, traps=[])):
            return type(self)(np.asarray(compute()), self.digits)

    def _each(self, function: Callable[[Decimal], Decimal]) -> Self:
        return self._new(lambda: np.frompyfunc(function, 1, 1)(self.data))

    def _operand(self, other: Self | float, operation: str) -> Elements:
        if isinstance(other, _NUMBERS):
            return np.asarray(Decimal(other) if self.data.dtype == object else other)
        if not self._is_like(other):
            raise OperandError(f"{operation}: {_name(self)} with {_name(other)}: both operands must be alike")
        return other.data

    def _is_like(self, other: object) -> bool:
        return isinstance(other, Precise) and other.digits == self.digits and other.dtype is self.dtype

    def _binary(self, function: Callable[[Any, Any], object], operation: str, other: Self | float) -> Self:
        y = self._operand(other, operation)
        shapes.broadcast(operation, self.shape, y.shape)
        return self._new(lambda: function(self.data, y))

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> Elements:
        if not isinstance(held.carrier, Precise):
            raise OperandError(f"{operation}: {_name(self)} with {_name(held.carrier)}: both operands must be alike")
        return held.carrier.data

    # -- from and to the host --------------------------------------------------------------------------------

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        return self._new(lambda: np.full(shapes.sizes("full", shape), Decimal(fill), object))

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        if _kind(array) not in "fiu":
            raise OperandError(f"from_host: {type(array).__name__}: expected a NumPy array of real numbers")
        return self._new(lambda: np.frompyfunc(Decimal, 1, 1)(array.astype(np.float64)))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        if _kind(array) not in "iu":
            raise OperandError(f"labels: {type(array).__name__}: expected a NumPy array of integers")
        return Labels(type(self)(array.astype(np.int64), self.digits))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return self.from_host(numpy(F64).uniform(shape, key).to_host())

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return self.from_host(numpy(F64).normal(shape, key).to_host())

    @override
    def to_host(self) -> HostArray:
        array: HostArray = self.data.astype(np.float64 if self.dtype is F64 else self.data.dtype)
        return array

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        return self._binary(np.add, "add", other)

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        return self._binary(np.subtract, "subtract", other)

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        return self._binary(np.multiply, "multiply", other)

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        return self._binary(np.divide, "divide", other)

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        return self._binary(np.frompyfunc(_power, 2, 1), "power", other)

    @override
    def __neg__(self) -> Self:
        return self._each(lambda x: -x)

    @override
    def exp(self) -> Self:
        return self._each(Decimal.exp)

    @override
    def log(self) -> Self:
        return self._each(Decimal.ln)

    @override
    def expm1(self) -> Self:
        return self._each(series.exponential_less_one)

    @override
    def log1p(self) -> Self:
        return self._each(series.logarithm_of_one_more)

    @override
    def sin(self) -> Self:
        return self._each(series.sine)

    @override
    def cos(self) -> Self:
        return self._each(series.cosine)

    @override
    def erf(self) -> Self:
        return self._each(series.error_function)

    @override
    def tanh(self) -> Self:
        return self._each(_tanh)

    @override
    def sqrt(self) -> Self:
        return self._each(Decimal.sqrt)

    @override
    def floor(self) -> Self:
        return self._each(lambda x: x.to_integral_value(decimal.ROUND_FLOOR))

    @override
    def maximum(self, other: Self | float, /) -> Self:
        return self._binary(_MAXIMUM, "maximum", other)

    # -- comparison ----------------------------------------------------------------------------------------------

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.less, "less", other))

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.less_equal, "less_equal", other))

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.equal, "equal", other))

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        held, y = self._held(mask, "where"), self._operand(other, "where")
        shapes.broadcast("where", held.shape, self.shape, y.shape)
        return self._new(lambda: np.where(held, self.data, y))

    # -- reductions ----------------------------------------------------------------------------------------------

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        gone = shapes.axes(self.shape, axes, "sum")
        return self._new(lambda: _SUM.reduce(self.data, axis=gone, keepdims=keepdims))

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        shapes.nothing_to_reduce("max", self.shape, axes)
        gone = shapes.axes(self.shape, axes, "max")
        return self._new(lambda: _MAXIMUM.reduce(self.data, axis=gone, keepdims=keepdims))

    @override
    def matmul(self, other: Self, /) -> Self:
        y = self._operand(other, "matmul")
        shapes.matmul(self.shape, y.shape)
        return self._new(lambda: _SUM.reduce(self.data[..., :, :, None] * y[..., None, :, :], axis=-2))

    # -- shape ---------------------------------------------------------------------------------------------------

    @override
    def reshape(self, shape: Shape, /) -> Self:
        shapes.reshape(self.shape, shape)
        return self._new(lambda: self.data.reshape(shape))

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        shapes.permute(self.shape, axes)
        return self._new(lambda: self.data.transpose(axes))

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        shapes.broadcast_to(self.shape, shape)
        return self._new(lambda: np.broadcast_to(self.data, shape).copy())

    @override
    def __getitem__(self, index: Index, /) -> Self:
        shapes.index_kinds(index)
        shapes.indexed(self.shape, index)
        return self._new(lambda: self.data[index])

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        shapes.index_kinds(index)
        whole = np.full(shapes.put_slice(self.shape, index, shape), _ZERO, object)
        whole[index] = self.data
        return self._new(lambda: whole)

    # -- classes -------------------------------------------------------------------------------------------------

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        shapes.nothing_to_reduce("argmax", self.shape, axis)
        return Labels(self._new(lambda: np.argmax(self.data, axis=shapes.axis(self.shape, axis, "argmax"))))

    @override
    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        axis = shapes.axis(self.shape, axis, "argsort")
        data = np.flip(self.data, axis) if descending else self.data
        key: Elements = np.asarray(np.frompyfunc(_sortable, 1, 1)(data), object)
        found = np.argsort(key, axis=axis, kind="stable").astype(np.int64)
        if descending:  # turned round twice, equal elements keep their order
            found = np.flip(self.shape[axis] - 1 - found, axis)
        return Labels(self._new(lambda: found))

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        wanted = shapes.gather(self.shape, labels.shape)
        places = np.broadcast_to(self._classes(labels, self.shape[-1], "gather"), wanted)
        return self._new(lambda: np.take_along_axis(self.data, places, -1))

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        whole = np.full(shapes.scatter_add(self.shape, labels.shape, size), _ZERO, object)
        places = np.broadcast_to(self._classes(labels, size, "scatter_add"), self.shape)

        def compute() -> Elements:
            for place, value in np.ndenumerate(self.data):
                whole[(*place[:-1], places[place])] += value
            return whole

        return self._new(compute)

    def _classes(self, labels: Labels[Self], classes: int, operation: str) -> NDArray[np.int64]:
        held = self._held(labels, operation)
        if held.size and not 0 <= held.min() <= held.max() < classes:
            raise LabelError(f"{operation}: labels {shapes.show(held.shape)}: not all are from 0 to {classes - 1}")
        return held

    # -- differentiation -----------------------------------------------------------------------------------------

    @override
    def stop_gradient(self) -> Self:
        return self


def precise(digits: int = 50, /) -> Precise:
    """The backend as a value: a zero from which tensors are made.

    Raises `OperandError` unless there is at least one digit."""
    if digits < 1:
        raise OperandError(f"precise: {digits} digits: at least one is needed")
    return Precise(np.asarray(_ZERO), digits)


def _power(x: Decimal, y: Decimal) -> Decimal:
    """As floating-point numbers do it: anything to the power of 0 is 1."""
    return _ONE if y == 0 else x**y


def _larger(x: Decimal, y: Decimal) -> Decimal:
    """NaN if either is."""
    return x if x.is_nan() or x >= y else y


def _tanh(x: Decimal) -> Decimal:
    """By `exp`, with digits to spare for those that the differences cancel."""
    with decimal.localcontext() as context:
        context.prec += context.prec + max(0, -x.adjusted()) if x.is_finite() else 0
        e = (-2 * abs(x)).exp()
        y = ((1 - e) / (1 + e)).copy_sign(x)
    return +y


def _sortable(x: Decimal) -> tuple[bool, Decimal]:
    """NaN after all numbers."""
    return (True, _ZERO) if x.is_nan() else (False, x)


def _kind(value: object) -> str:
    """The kind of an array's elements, as NumPy abbreviates it; of anything else, one that nobody takes."""
    return value.dtype.kind if isinstance(value, np.ndarray) else "?"


def _name(value: object) -> str:
    return f"Precise[{value.digits} digits]" if isinstance(value, Precise) else type(value).__name__


_SUM = np.frompyfunc(operator.add, 2, 1, identity=_ZERO)
_MAXIMUM = np.frompyfunc(_larger, 2, 1, identity=None)

# Run-time shape checks then look at the class, not at each of its methods.
MlpTensor.register(Precise)
if TYPE_CHECKING:
    _: type[MlpTensor] = Precise
