"""The trait `Tensor`: what every interpreter of moonxi can do with an array of numbers.

Use it as a bound, ``def f[T: Tensor](x: T) -> T``, never as the type of a value: ``x: Tensor`` forgets the backend.
Tensors are immutable. Binary operations broadcast as NumPy does, and take Python numbers on either side;
a Python number never changes the element type. The operations stand in the traits that this one is made of.
"""

from typing import NoReturn, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import DType, HostArray
from moonxi.key import Key
from moonxi.traits.elementwise import ElementwiseTensor
from moonxi.traits.indexed import IndexedTensor
from moonxi.traits.labels import Labels
from moonxi.traits.notation import Shape
from moonxi.traits.reducing import ReducingTensor
from moonxi.traits.shaping import ShapedTensor


@runtime_checkable
class Tensor(ElementwiseTensor, ReducingTensor, ShapedTensor, IndexedTensor, Protocol):
    """An immutable array of floating-point numbers."""

    __slots__ = ()

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """One size per axis."""

    @property
    def dtype(self) -> type[DType]:
        """The element type, as a class: ``F32``, ``F64``, ..."""

    def __bool__(self) -> NoReturn:
        """Refused, with advice: a tensor is not one truth."""

    # -- from and to the host --------------------------------------------------------------------------------

    def full(self, shape: Shape, fill: float, /) -> Self:
        """A tensor like this one (same class, device and element type), filled with one number."""

    def zeros(self, shape: Shape, /) -> Self:
        """Zeros, like this one."""

    def ones(self, shape: Shape, /) -> Self:
        """Ones, like this one."""

    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        """A copy of a NumPy array, rounded to this element type. Raises `OperandError` for other kinds of array."""

    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        """Class indices that live here. Raises `OperandError` unless the array holds integers."""

    def uniform(self, shape: Shape, key: Key, /) -> Self:
        """Numbers uniform in [0, 1), like this one; the same bits on every backend."""

    def normal(self, shape: Shape, key: Key, /) -> Self:
        """Standard normal numbers, like this one (Box and Muller 1958); backends agree up to rounding."""

    def to_host(self) -> HostArray:
        """A copy as a NumPy array of the same element type (float32 where NumPy has no such type)."""

    def item(self) -> float:
        """The only element. Raises `ShapeError` if there is not exactly one."""

    # -- differentiation -----------------------------------------------------------------------------------------

    def stop_gradient(self) -> Self:
        """The same value, constant to every level of differentiation."""
