"""The trait `Tensor`: what every interpreter of moonxi can do with an array of numbers.

Use it as a bound, ``def f[T: Tensor](x: T) -> T``, never as the type of a value: ``x: Tensor`` forgets the backend.
Tensors are immutable. Binary operations broadcast as NumPy does, and take Python numbers on either side;
a Python number never changes the element type.
"""

from types import EllipsisType
from typing import NoReturn, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import DType, HostArray
from moonxi.key import Key
from moonxi.traits.labels import Labels, Mask

type Shape = tuple[int, ...]
"""One size per axis; ``()`` is a scalar."""
type Axes = int | tuple[int, ...] | None
"""An axis, several axes, or ``None`` for all; negative ones count from the end."""
type Index = int | slice | EllipsisType | tuple[int | slice | EllipsisType | None, ...] | None
"""What stands between brackets: integers, slices, ``...`` and ``None`` for a new axis."""


@runtime_checkable
class Tensor(Protocol):
    """An immutable array of floating-point numbers."""

    __slots__ = ()

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """One size per axis."""

    @property
    def dtype(self) -> type[DType]:
        """The element type, as a class: ``F32``, ``F64``, ..."""

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

    # -- arithmetic --------------------------------------------------------------------------------------------

    def __add__(self, other: Self | float, /) -> Self: ...
    def __radd__(self, other: float, /) -> Self: ...
    def __sub__(self, other: Self | float, /) -> Self: ...
    def __rsub__(self, other: float, /) -> Self: ...
    def __mul__(self, other: Self | float, /) -> Self: ...
    def __rmul__(self, other: float, /) -> Self: ...
    def __truediv__(self, other: Self | float, /) -> Self: ...
    def __rtruediv__(self, other: float, /) -> Self: ...
    def __pow__(self, other: Self | float, /) -> Self: ...
    def __rpow__(self, other: float, /) -> Self: ...
    def __neg__(self) -> Self: ...

    def exp(self) -> Self:
        """e to the power of each element."""

    def log(self) -> Self:
        """The natural logarithm; -inf at 0 and NaN below."""

    def tanh(self) -> Self:
        """The hyperbolic tangent."""

    def sqrt(self) -> Self:
        """The square root; NaN below 0."""

    def floor(self) -> Self:
        """The largest integer that is not greater; its derivative is 0."""

    def square(self) -> Self:
        """Each element times itself."""

    def relu(self) -> Self:
        """The larger of each element and 0; its derivative at 0 is 0."""

    def maximum(self, other: Self | float, /) -> Self:
        """The larger of two, element by element; NaN if either is. At a tie each gets half the gradient."""

    # -- comparison --------------------------------------------------------------------------------------------

    def __lt__(self, other: Self | float, /) -> Mask[Self]: ...
    def __le__(self, other: Self | float, /) -> Mask[Self]: ...
    def __gt__(self, other: Self | float, /) -> Mask[Self]: ...
    def __ge__(self, other: Self | float, /) -> Mask[Self]: ...

    def equal(self, other: Self | float, /) -> Mask[Self]:
        """Where the two are the same number (``==`` is refused: it would have to give one bool)."""

    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        """This tensor where the mask is, ``other`` elsewhere; all three broadcast."""

    def __bool__(self) -> NoReturn:
        """Refused, with advice: a tensor is not one truth."""

    # -- reductions ----------------------------------------------------------------------------------------------

    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The sum over the axes; 0 over nothing."""

    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The mean over the axes; NaN over nothing."""

    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The largest over the axes, NaN if one is; equal largest ones share the gradient.

        Raises `ShapeError` over nothing."""

    # -- shape ---------------------------------------------------------------------------------------------------

    def reshape(self, shape: Shape, /) -> Self:
        """The same elements in row-major order in another shape; one size may be -1."""

    def permute(self, axes: tuple[int, ...], /) -> Self:
        """Axis ``i`` of the result is axis ``axes[i]`` of this one."""

    def broadcast_to(self, shape: Shape, /) -> Self:
        """Repeated along new axes and along axes of size 1."""

    def sum_to(self, shape: Shape, /) -> Self:
        """The adjoint of `broadcast_to`: summed until the shape is ``shape``."""

    def __getitem__(self, index: Index, /) -> Self:
        """A part: integers drop an axis, slices keep it (any step), ``None`` adds one. Raises `AxisError`."""

    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        """The adjoint of ``x[index]``: zeros of ``shape`` with this tensor at ``index``."""

    # -- classes -------------------------------------------------------------------------------------------------

    def argmax(self, axis: int, /) -> Labels[Self]:
        """The index of the first largest element along the axis, which goes away."""

    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        """A tensor like this one, of shape ``labels.shape + (classes,)``: 1 at each label and 0 elsewhere.

        Raises `LabelError` for a label outside ``0 .. classes-1``."""

    def gather(self, labels: Labels[Self], /) -> Self:
        """The elements at the labels along the last axis, whose size becomes the number of labels.

        Before their last axis, labels have the sizes of this tensor or 1, or no axes: ``(..., n)`` by ``(k,)`` or
        ``(..., k)`` gives ``(..., k)``. Raises `LabelError` for a label outside."""

    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        """The adjoint of `gather`: zeros with a last axis of ``size``, and each element added at its label."""

    def pick(self, labels: Labels[Self], /) -> Self:
        """The element at each label along the last axis, which goes away: ``x[i, labels[i]]``.

        ``labels`` has the shape of this tensor without its last axis. Raises `LabelError` for a label outside."""

    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        """The adjoint of `pick`: zeros with a new last axis of size ``classes``, this tensor at the labels."""

    def softmax(self, axis: int, /) -> Self:
        """exp(x) over its sum along the axis, without overflow."""

    def log_softmax(self, axis: int, /) -> Self:
        """The logarithm of `softmax`, without loss of precision."""

    # -- differentiation -----------------------------------------------------------------------------------------

    def stop_gradient(self) -> Self:
        """The same value, constant to every level of differentiation."""
