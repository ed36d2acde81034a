"""What an interpreter owes and what it gets: the primitives, and the operations derived from them once.

An interpreter inherits `DerivedBlas` (or `DerivedTensor`), with itself as the parameter, and writes the abstract
methods; it may override a derived operation where it knows a faster or more exact way. The parameter makes the base
invariant: a list of tensors of two backends has no common tensor class, so a checker refuses to compute with it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import prod
from typing import NoReturn, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.dims import Dim
from moonxi.dtypes import DType, HostArray
from moonxi.errors import OperandError
from moonxi.key import Key
from moonxi.traits.labels import Labels, Mask
from moonxi.traits.tensor import Axes, Index, Shape


class _Primitives(ABC):
    """What every interpreter writes itself; the contracts stand in `Tensor`."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> Shape: ...
    @property
    @abstractmethod
    def dtype(self) -> type[DType]: ...
    @abstractmethod
    def full(self, shape: Shape, fill: float, /) -> Self: ...
    @abstractmethod
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self: ...
    @abstractmethod
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]: ...
    @abstractmethod
    def uniform(self, shape: Shape, key: Key, /) -> Self: ...
    @abstractmethod
    def normal(self, shape: Shape, key: Key, /) -> Self: ...
    @abstractmethod
    def to_host(self) -> HostArray: ...
    @abstractmethod
    def __add__(self, other: Self | float, /) -> Self: ...
    @abstractmethod
    def __sub__(self, other: Self | float, /) -> Self: ...
    @abstractmethod
    def __mul__(self, other: Self | float, /) -> Self: ...
    @abstractmethod
    def __truediv__(self, other: Self | float, /) -> Self: ...
    @abstractmethod
    def __pow__(self, other: Self | float, /) -> Self: ...
    @abstractmethod
    def __neg__(self) -> Self: ...
    @abstractmethod
    def exp(self) -> Self: ...
    @abstractmethod
    def log(self) -> Self: ...
    @abstractmethod
    def tanh(self) -> Self: ...
    @abstractmethod
    def sqrt(self) -> Self: ...
    @abstractmethod
    def floor(self) -> Self: ...
    @abstractmethod
    def maximum(self, other: Self | float, /) -> Self: ...
    @abstractmethod
    def __lt__(self, other: Self | float, /) -> Mask[Self]: ...
    @abstractmethod
    def __le__(self, other: Self | float, /) -> Mask[Self]: ...
    @abstractmethod
    def equal(self, other: Self | float, /) -> Mask[Self]: ...
    @abstractmethod
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self: ...
    @abstractmethod
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self: ...
    @abstractmethod
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self: ...
    @abstractmethod
    def reshape(self, shape: Shape, /) -> Self: ...
    @abstractmethod
    def permute(self, axes: tuple[int, ...], /) -> Self: ...
    @abstractmethod
    def broadcast_to(self, shape: Shape, /) -> Self: ...
    @abstractmethod
    def __getitem__(self, index: Index, /) -> Self: ...
    @abstractmethod
    def put_slice(self, index: Index, shape: Shape, /) -> Self: ...
    @abstractmethod
    def argmax(self, axis: int, /) -> Labels[Self]: ...
    @abstractmethod
    def gather(self, labels: Labels[Self], /) -> Self: ...
    @abstractmethod
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self: ...
    @abstractmethod
    def stop_gradient(self) -> Self: ...


class DerivedTensor[I](_Primitives):
    """The rest of the trait `Tensor`, for the interpreter ``I``."""

    __slots__ = ()
    __array_ufunc__ = None  # an ndarray on the left then leaves the operation to us, and we refuse it

    def _same_interpreter(self, other: I, /) -> I:
        """Never called: it makes the class invariant in ``I``."""
        return other

    def _from_left(self, other: object, operation: str) -> Self:
        """A Python number that stands on the left, as a scalar."""
        if isinstance(other, (float, int, Dim)):
            return self.full((), float(other))
        raise OperandError(
            f"{operation}: {type(other).__name__} with {type(self).__name__}: the operand must be a tensor of the same "
            "class or a Python number"
        )

    def zeros(self, shape: Shape, /) -> Self:
        return self.full(shape, 0.0)

    def ones(self, shape: Shape, /) -> Self:
        return self.full(shape, 1.0)

    def __iter__(self) -> Iterator[Self]:
        """The parts along the first axis; of a single element there are none, which is a `ShapeError`."""
        return map(self.__getitem__, shapes.parts(self.shape))

    def item(self) -> float:
        shapes.item(self.shape)
        return float(self.to_host().reshape(()))

    def __radd__(self, other: float, /) -> Self:
        return self + other

    def __rsub__(self, other: float, /) -> Self:
        return -self + other

    def __rmul__(self, other: float, /) -> Self:
        return self * other

    def __rtruediv__(self, other: float, /) -> Self:
        return self._from_left(other, "divide") / self

    def __rpow__(self, other: float, /) -> Self:
        return self._from_left(other, "power") ** self

    def square(self) -> Self:
        return self * self

    def relu(self) -> Self:
        return self.full((), 0.0).where(self <= 0.0, self)

    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return (other if isinstance(other, DerivedTensor) else self._from_left(other, "greater")) < self

    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return (other if isinstance(other, DerivedTensor) else self._from_left(other, "greater_equal")) <= self

    @override
    def __eq__(self, other: object, /) -> NoReturn:
        raise OperandError(
            f"{type(self).__name__} == {type(other).__name__}: == must give one bool and a tensor has many elements: "
            "use x.equal(y) for a mask, or compare x.to_host() with NumPy"
        )

    @override
    def __ne__(self, other: object, /) -> NoReturn:
        self.__eq__(other)

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise OperandError(
            f"bool({type(self).__name__}): a tensor is not one truth: use mask.select(a, b) to choose on the device, "
            "or x.item() to read a single number"
        )

    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        count = prod(self.shape) if axes is None else prod(self.shape[a] for a in shapes.axes(self.shape, axes, "mean"))
        # Not `if count`: a symbolic size has no truth. One over it is NaN, which scales shapes without elements.
        return self.sum(axes, keepdims=keepdims) * (float("nan") if count == 0 else 1.0 / count)

    def sum_to(self, shape: Shape, /) -> Self:
        if self.shape == shape:
            return self
        return self.sum(shapes.summed_axes(self.shape, shape), keepdims=True).reshape(shape)

    def pick(self, labels: Labels[Self], /) -> Self:
        shapes.pick(self.shape, labels.shape)
        return self.gather(labels[..., None])[..., 0]

    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        shapes.put(self.shape, labels.shape, classes)
        return self[..., None].scatter_add(labels[..., None], classes)

    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        shapes.one_hot(labels.shape, classes)
        return self.full(labels.shape, 1.0).put(labels, classes)

    def softmax(self, axis: int, /) -> Self:
        shapes.nothing_to_reduce("softmax", self.shape, axis)
        e = (self - self.max(axis, keepdims=True).stop_gradient()).exp()
        return e / e.sum(axis, keepdims=True)

    def log_softmax(self, axis: int, /) -> Self:
        shapes.nothing_to_reduce("log_softmax", self.shape, axis)
        shifted = self - self.max(axis, keepdims=True).stop_gradient()
        return shifted - shifted.exp().sum(axis, keepdims=True).log()


class DerivedBlas[I](DerivedTensor[I]):
    """The rest of the trait `BlasTensor` as well, for the interpreter ``I``."""

    __slots__ = ()

    @abstractmethod
    def matmul(self, other: Self, /) -> Self: ...

    def __matmul__(self, other: Self, /) -> Self:
        return self.matmul(other)

    def transpose(self) -> Self:
        return self.permute(shapes.transpose(self.shape))
