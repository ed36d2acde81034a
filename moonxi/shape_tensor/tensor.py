"""The trait `Tensor` on shapes alone."""

from typing import NoReturn, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.dims import Dim
from moonxi.dtypes import F32, I64, Bool, DType, HostArray
from moonxi.errors import NoElementsError, OperandError
from moonxi.key import Key
from moonxi.shapes import Sizes
from moonxi.traits import Axes, DerivedTensor, Index, Labels, Mask, Shape, expect_held, foreign

_NUMBERS = (float, int, Dim)


class SymbolicTensor(DerivedTensor["SymbolicTensor"]):
    """A shape and an element type, and no elements. Results are made by ``type(self)(shape, dtype)``."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Sizes, dtype: type[DType] = F32, /) -> None:
        self._shape = shape
        self._dtype = dtype

    @override
    def __repr__(self) -> str:
        return f"{_name(self)} {shapes.show(self._shape)}"

    @override
    def __reduce__(self) -> tuple[type[Self], tuple[Sizes, type[DType]]]:
        return type(self), (self._shape, self._dtype)

    @property
    @override
    def shape(self) -> Shape:
        return self._shape  # type: ignore[return-value]  # a Dim has the arithmetic of an int, all that models ask of it

    @property
    @override
    def dtype(self) -> type[DType]:
        return self._dtype

    # -- operands ------------------------------------------------------------------------------------------------

    def _new(self, shape: Sizes) -> Self:
        return type(self)(shape, self._dtype)

    def _sizes(self, other: object, operation: str) -> Sizes:
        """The shape of an operand that must be of this class and element type."""
        if isinstance(other, SymbolicTensor) and other._dtype is self._dtype:
            return other._shape
        mine = _name(self)
        raise OperandError(f"{operation}: {mine} with {_name(other)}: both operands must be {mine}")

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> Sizes:
        """The shape of labels or of a mask, which must be of this class."""
        expect_held(operation, held)
        if isinstance(held.carrier, SymbolicTensor):
            return held.carrier._shape
        raise OperandError(
            f"{operation}: {_name(self)} with {type(held).__name__} of {_name(held.carrier)}: both must live in the "
            "same tensor class"
        )

    def _with(self, other: Self | float, operation: str) -> Self:
        if isinstance(other, _NUMBERS):
            return self._new(self._shape)
        return self._new(shapes.broadcast(operation, self._shape, self._sizes(other, operation)))

    def _mask(self, other: Self | float, operation: str) -> Mask[Self]:
        return Mask(type(self)(self._with(other, operation)._shape, Bool))

    def _labels(self, shape: Sizes) -> Labels[Self]:
        return Labels(type(self)(shape, I64))

    def _no_elements(self, operation: str) -> NoReturn:
        raise NoElementsError(
            f"{operation}: {self!r}: only shapes are computed, so there is no element to read; keep what depends on "
            "values, such as a test or a print of the loss, out of the function that is checked"
        )

    # -- from and to the host --------------------------------------------------------------------------------

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        foreign.number("full", "fill", fill)
        return self._new(shapes.sizes("full", shape))

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        return self._new(np.shape(array))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        return self._labels(np.shape(array))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return self._new(shapes.sizes("uniform", shape))

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return self._new(shapes.sizes("normal", shape))

    @override
    def to_host(self) -> HostArray:
        self._no_elements("to_host")

    @override
    def item(self) -> float:
        shapes.item(self._shape)
        self._no_elements("item")

    # -- element by element ------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        return self._with(other, "add")

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        return self._with(other, "subtract")

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        return self._with(other, "multiply")

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        return self._with(other, "divide")

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        return self._with(other, "power")

    @override
    def __neg__(self) -> Self:
        return self._new(self._shape)

    @override
    def exp(self) -> Self:
        return self._new(self._shape)

    @override
    def log(self) -> Self:
        return self._new(self._shape)

    @override
    def expm1(self) -> Self:
        return self._new(self._shape)

    @override
    def log1p(self) -> Self:
        return self._new(self._shape)

    @override
    def sin(self) -> Self:
        return self._new(self._shape)

    @override
    def cos(self) -> Self:
        return self._new(self._shape)

    @override
    def erf(self) -> Self:
        return self._new(self._shape)

    @override
    def tanh(self) -> Self:
        return self._new(self._shape)

    @override
    def sqrt(self) -> Self:
        return self._new(self._shape)

    @override
    def floor(self) -> Self:
        return self._new(self._shape)

    @override
    def maximum(self, other: Self | float, /) -> Self:
        return self._with(other, "maximum")

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(other, "less")

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(other, "less_equal")

    @override
    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(other, "greater")

    @override
    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(other, "greater_equal")

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(other, "equal")

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        right = () if isinstance(other, _NUMBERS) else self._sizes(other, "where")
        return self._new(shapes.broadcast("where", self._held(mask, "where"), self._shape, right))

    # -- reductions ----------------------------------------------------------------------------------------------

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._new(shapes.reduced("sum", self._shape, axes, keepdims=keepdims, one=1))

    @override
    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._new(shapes.reduced("mean", self._shape, axes, keepdims=keepdims, one=1))

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        shapes.nothing_to_reduce("max", self._shape, axes)
        return self._new(shapes.reduced("max", self._shape, axes, keepdims=keepdims, one=1))

    @override
    def prod(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._new(shapes.reduced("prod", self._shape, axes, keepdims=keepdims, one=1))

    @override
    def cumsum(self, axis: int, /) -> Self:
        shapes.axis(self._shape, axis, "cumsum")
        return self._new(self._shape)

    # -- shape ---------------------------------------------------------------------------------------------------

    @override
    def reshape(self, shape: Shape, /) -> Self:
        return self._new(shapes.reshape(self._shape, shape))

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        return self._new(shapes.permute(self._shape, axes))

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        return self._new(shapes.broadcast_to(self._shape, shape))

    @override
    def __getitem__(self, index: Index, /) -> Self:
        shapes.index_kinds(index)
        return self._new(shapes.indexed(self._shape, index))

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        shapes.index_kinds(index)
        return self._new(shapes.put_slice(self._shape, index, shape))

    @override
    def roll(self, shift: int, axis: int, /) -> Self:
        shapes.axis(self._shape, axis, "roll")
        return self._new(self._shape)

    # -- classes -------------------------------------------------------------------------------------------------

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        shapes.nothing_to_reduce("argmax", self._shape, axis)
        return self._labels(shapes.reduced("argmax", self._shape, axis, one=1))

    @override
    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        shapes.axis(self._shape, axis, "argsort")
        return self._labels(self._shape)

    @override
    def pick(self, labels: Labels[Self], /) -> Self:
        return self._new(shapes.pick(self._shape, self._held(labels, "pick")))

    @override
    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        return self._new(shapes.put(self._shape, self._held(labels, "put"), classes))

    @override
    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        return self._new(shapes.one_hot(self._held(labels, "one_hot"), classes))

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        return self._new(shapes.gather(self._shape, self._held(labels, "gather")))

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        return self._new(shapes.scatter_add(self._shape, self._held(labels, "scatter_add"), size))

    @override
    def stop_gradient(self) -> Self:
        return self._new(self._shape)


def _name(value: object) -> str:
    """The class with its element type: ``ShapeTensor[F32]``."""
    dtype = getattr(value, "dtype", None)
    return f"{type(value).__name__}[{dtype.__name__}]" if isinstance(dtype, type) else type(value).__name__
