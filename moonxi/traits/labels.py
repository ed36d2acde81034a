"""Integers and booleans that live where a tensor lives: class indices and masks.

Both hold a *carrier*: a tensor of class ``T`` whose elements are integers or booleans. The carrier is what a
backend, the autodiff or a tracer works on; everybody else uses the methods here, which cannot mistake a label
for a number to compute with. The classes are invariant in ``T``, so that a checker refuses host labels beside
device logits without any help.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol, Self, override

import numpy as np

from moonxi import shapes
from moonxi.dtypes import I64, Bool, HostArray, HostLabels, HostMask
from moonxi.errors import OperandError
from moonxi.traits.as_array import refuse

if TYPE_CHECKING:
    from moonxi.traits.notation import Index, Shape


class Carrier(Protocol):
    """The part of the trait `Tensor` that labels and masks need of their carrier."""

    __slots__ = ()

    @property
    def shape(self) -> "Shape": ...
    def full(self, shape: "Shape", fill: float, /) -> Self: ...
    def equal(self, other: Self | float, /) -> "Mask[Self]": ...
    def where(self, mask: "Mask[Self]", other: Self | float, /) -> Self: ...
    def reshape(self, shape: "Shape", /) -> Self: ...
    def permute(self, axes: tuple[int, ...], /) -> Self: ...
    def __getitem__(self, index: "Index", /) -> Self: ...
    def to_host(self) -> HostArray: ...


@dataclass(frozen=True, slots=True, eq=False)
class Labels[T: Carrier]:
    """Class indices, int64, any shape; made by ``like.labels(array)`` or ``x.argmax(axis)``."""

    carrier: T

    def _wrap(self, carrier: T, /) -> "Labels[T]":
        return Labels(carrier)

    def __array__(self, dtype: object = None, /, *, copy: object = None) -> None:
        """Refuses, as that of a tensor does."""
        refuse(self, self.shape)

    @property
    def shape(self) -> "Shape":
        """The shape."""
        return self.carrier.shape

    @property
    def dtype(self) -> type[I64]:
        """Integers, so that ``Int[Labels[T], "batch words"]`` states their shape."""
        return I64

    def map[U: Carrier](self, f: Callable[[T], U], /) -> "Labels[U]":
        """The same indices in another interpreter."""
        return Labels(f(self.carrier))

    def equal(self, other: "Labels[T]", /) -> "Mask[T]":
        """Where the two hold the same class; broadcasts as NumPy does."""
        return self.carrier.equal(other.carrier)

    @override
    def __eq__(self, other: object, /) -> NoReturn:
        raise OperandError(
            f"Labels == {type(other).__name__}: == must give one bool and labels are many: use x.equal(y) for a mask, "
            "or compare x.to_host() with NumPy"
        )

    __hash__ = object.__hash__

    def reshape(self, shape: "Shape", /) -> "Labels[T]":
        """The same indices in row-major order in another shape."""
        return self._wrap(self.carrier.reshape(shape))

    def permute(self, axes: tuple[int, ...], /) -> "Labels[T]":
        """Axis ``i`` of the result is axis ``axes[i]`` of these."""
        return self._wrap(self.carrier.permute(axes))

    def __getitem__(self, index: "Index", /) -> "Labels[T]":
        """A part, selected as in ``Tensor.__getitem__``."""
        return self._wrap(self.carrier[index])

    def __iter__(self) -> "Iterator[Labels[T]]":
        """The parts along the first axis; of one index there are none, which is a `ShapeError`."""
        return map(self.__getitem__, shapes.parts(self.shape))

    def to_host(self) -> HostLabels:
        """A copy as a NumPy array of int64."""
        return np.asarray(self.carrier.to_host(), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Mask[T: Carrier]:
    """Booleans, any shape; made by a comparison such as ``x > 0``."""

    carrier: T

    def _wrap(self, carrier: T, /) -> "Mask[T]":
        return Mask(carrier)

    def __array__(self, dtype: object = None, /, *, copy: object = None) -> None:
        """Refuses, as that of a tensor does."""
        refuse(self, self.shape)

    @property
    def shape(self) -> "Shape":
        """The shape."""
        return self.carrier.shape

    @property
    def dtype(self) -> type[Bool]:
        """Booleans, so that ``Bool[Mask[T], "batch words"]`` of jaxtyping states their shape."""
        return Bool

    def map[U: Carrier](self, f: Callable[[T], U], /) -> "Mask[U]":
        """The same booleans in another interpreter."""
        return Mask(f(self.carrier))

    def __invert__(self) -> "Mask[T]":
        """Where this one is not."""
        return self.carrier.equal(0.0)

    def __and__(self, other: "Mask[T]", /) -> "Mask[T]":
        """Where both are."""
        return self._wrap(other.carrier.where(self, self.carrier))

    def __or__(self, other: "Mask[T]", /) -> "Mask[T]":
        """Where at least one is."""
        return self._wrap(self.carrier.where(self, other.carrier))

    @override
    def __eq__(self, other: object, /) -> NoReturn:
        raise OperandError(
            f"Mask == {type(other).__name__}: == must give one bool and a mask has many: combine masks with &, |, ~, "
            "or compare x.to_host() with NumPy"
        )

    __hash__ = object.__hash__

    def select(self, on: T, off: T | float, /) -> T:
        """``on`` where the mask is, ``off`` elsewhere; broadcasts as NumPy does."""
        return on.where(self, off)

    def to_tensor(self, like: T, /) -> T:
        """One where the mask is and zero elsewhere, with the element type of ``like``."""
        return like.full(self.shape, 1.0).where(self, 0.0)

    def reshape(self, shape: "Shape", /) -> "Mask[T]":
        """The same booleans in row-major order in another shape."""
        return self._wrap(self.carrier.reshape(shape))

    def permute(self, axes: tuple[int, ...], /) -> "Mask[T]":
        """Axis ``i`` of the result is axis ``axes[i]`` of this one."""
        return self._wrap(self.carrier.permute(axes))

    def __getitem__(self, index: "Index", /) -> "Mask[T]":
        """A part, selected as in ``Tensor.__getitem__``."""
        return self._wrap(self.carrier[index])

    def __iter__(self) -> "Iterator[Mask[T]]":
        """The parts along the first axis; of one boolean there are none, which is a `ShapeError`."""
        return map(self.__getitem__, shapes.parts(self.shape))

    def __bool__(self) -> bool:
        raise OperandError(
            "bool(Mask): the truth of a mask is not one value: read one element with .to_host(), "
            "or stay on the device with .select(on, off) and .to_tensor(like)"
        )

    def to_host(self) -> HostMask:
        """A copy as a NumPy array of bool."""
        return np.asarray(self.carrier.to_host(), dtype=np.bool_)


def expect_held(operation: str, value: object) -> None:
    """Refuse what no checker would let through: a tensor or an array where labels or a mask belong."""
    if not isinstance(value, Labels | Mask):
        raise OperandError(
            f"{operation}: {type(value).__name__}: expected Labels or a Mask, from x.labels(array), x.argmax(axis) or "
            "a comparison such as x > 0"
        )
