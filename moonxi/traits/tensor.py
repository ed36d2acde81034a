"""The trait `Tensor`: what every interpreter of moonxi can do with an array of numbers.

Use it as a bound, ``def f[T: Tensor](x: T) -> T``, never as the type of a value: ``x: Tensor`` forgets the backend.
Tensors are immutable. Binary operations broadcast as NumPy does, and take Python numbers on either side;
a Python number never changes the element type. Over axes, these go away, or with ``keepdims``
have size 1.
"""

# A docstring is the whole body of a Protocol's method; pyright wants `...` besides.
# pyright: reportReturnType=false

from typing import NoReturn, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import DType, HostArray
from moonxi.key import Key
from moonxi.traits.labels import Carrier, Labels, Mask
from moonxi.traits.notation import Axes, Index, Shape, Widths


@runtime_checkable
class Tensor(Carrier, Protocol):
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

    def abs(self) -> Self:
        """The distance from 0; its derivative at 0 is 0."""

    def sign(self) -> Self:
        """-1, 0 or 1; NaN for NaN. Its derivative is 0."""

    def square(self) -> Self:
        """Each element times itself."""

    def sqrt(self) -> Self:
        """The square root; NaN below 0."""

    def floor(self) -> Self:
        """The largest integer that is not greater; its derivative is 0."""

    def maximum(self, other: Self | float, /) -> Self:
        """The larger of two, element by element; NaN if either is. At a tie each gets half the gradient."""

    def minimum(self, other: Self | float, /) -> Self:
        """The smaller of two, element by element; NaN if either is. At a tie each gets half the gradient."""

    def clip(self, low: float, high: float, /) -> Self:
        """The nearest number from ``low`` to ``high``; NaN stays NaN. The derivative is 1 at the ends and within.

        Raises `OptionError` if ``low`` is greater than ``high``."""

    # -- transcendental ----------------------------------------------------------------------------------------

    def exp(self) -> Self:
        """e to the power of each element."""

    def expm1(self) -> Self:
        """exp(x) - 1, without loss of precision near 0."""

    def log(self) -> Self:
        """The natural logarithm; -inf at 0 and NaN below."""

    def log1p(self) -> Self:
        """log(1 + x), without loss of precision near 0."""

    def sin(self) -> Self:
        """The sine of radians."""

    def cos(self) -> Self:
        """The cosine of radians."""

    def tanh(self) -> Self:
        """The hyperbolic tangent."""

    def erf(self) -> Self:
        """The error function: 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

    def sigmoid(self) -> Self:
        """1 / (1 + exp(-x)), without overflow."""

    def softplus(self) -> Self:
        """log(1 + exp(x)), without overflow."""

    def relu(self) -> Self:
        """The larger of each element and 0; its derivative at 0 is 0."""

    # -- comparison --------------------------------------------------------------------------------------------

    def __lt__(self, other: Self | float, /) -> Mask[Self]: ...
    def __le__(self, other: Self | float, /) -> Mask[Self]: ...
    def __gt__(self, other: Self | float, /) -> Mask[Self]: ...
    def __ge__(self, other: Self | float, /) -> Mask[Self]: ...

    def equal(self, other: Self | float, /) -> Mask[Self]:
        """Where the two are the same number (``==`` is refused: it would have to give one bool)."""

    def not_equal(self, other: Self | float, /) -> Mask[Self]:
        """Where the two are not the same number; NaN is no number's equal, not even its own."""

    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        """This tensor where the mask is, ``other`` elsewhere; all three broadcast."""

    def masked_fill(self, mask: Mask[Self], fill: float, /) -> Self:
        """The number where the mask is, this tensor elsewhere; both broadcast."""

    # -- along axes --------------------------------------------------------------------------------------------------

    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The sum over the axes; 0 over nothing."""

    def prod(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The product over the axes; 1 over nothing. The derivative is right also where factors are 0."""

    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The mean over the axes; NaN over nothing."""

    def var(self, axes: Axes = None, /, *, correction: int = 1, keepdims: bool = False) -> Self:
        """The sum of the squared distances from the mean, over the number of elements less ``correction``.

        1 estimates the variance of a population from a sample; 0 gives that of the elements. NaN where nothing is
        left to divide by."""

    def std(self, axes: Axes = None, /, *, correction: int = 1, keepdims: bool = False) -> Self:
        """The square root of `var`; its derivative is NaN where all elements are the same."""

    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The largest over the axes, NaN if one is; equal largest ones share the gradient.

        Raises `ShapeError` over nothing."""

    def min(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The smallest over the axes, NaN if one is; equal smallest ones share the gradient.

        Raises `ShapeError` over nothing."""

    def norm(self, axes: Axes = None, /, *, order: float = 2.0, keepdims: bool = False) -> Self:
        """The p-norm ``sum(|x|**p) ** (1/p)`` over the axes, p being ``order``, which may be infinite.

        The derivative of the 2-norm at 0 is 0. Raises `OptionError` unless ``order`` is at least 1."""

    def logsumexp(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """log(sum(exp(x))) over the axes, without overflow. Raises `ShapeError` over nothing."""

    def cumsum(self, axis: int, /) -> Self:
        """The sums of the elements up to each one along the axis."""

    def softmax(self, axis: int, /) -> Self:
        """exp(x) over its sum along the axis, without overflow."""

    def log_softmax(self, axis: int, /) -> Self:
        """The logarithm of `softmax`, without loss of precision."""

    # -- shape and order ---------------------------------------------------------------------------------------------

    def reshape(self, shape: Shape, /) -> Self:
        """The same elements in row-major order in another shape; one size may be -1."""

    def squeeze(self, axes: int | tuple[int, ...], /) -> Self:
        """Without these axes. Raises `ShapeError` unless each has size 1."""

    def unsqueeze(self, axes: int | tuple[int, ...], /) -> Self:
        """With new axes of size 1 at these places of the result."""

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

    def flip(self, axes: int | tuple[int, ...], /) -> Self:
        """In reverse order along the axes."""

    def roll(self, shift: int, axis: int, /) -> Self:
        """Moved by ``shift`` places along the axis; what leaves at the end comes in at the front."""

    def pad(self, widths: Widths, value: float = 0.0, /) -> Self:
        """With ``(before, after)`` elements of ``value`` more for each axis, the first pair being that of axis 0."""

    def tile(self, repeats: tuple[int, ...], /) -> Self:
        """The whole tensor repeated along each axis: one number for each axis."""

    def concatenate(self, *others: Self, axis: int) -> Self:
        """This tensor and the others, one after the other along the axis; all other sizes are the same."""

    def stack(self, *others: Self, axis: int) -> Self:
        """This tensor and the others, all of one shape, along a new axis at this place of the result."""

    def split(self, sizes: tuple[int, ...], /, *, axis: int) -> tuple[Self, ...]:
        """Parts of these sizes along the axis; together they have its size."""

    # -- by index ----------------------------------------------------------------------------------------------------

    def argmax(self, axis: int, /) -> Labels[Self]:
        """The index of the first largest element along the axis, which goes away."""

    def argmin(self, axis: int, /) -> Labels[Self]:
        """The index of the first smallest element along the axis, which goes away."""

    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        """The indices that sort the elements along the axis; equal ones keep their order, NaN counts as largest."""

    def sort(self, axis: int, /, *, descending: bool = False) -> Self:
        """The elements in order along the axis; each gets its gradient back."""

    def topk(self, k: int, axis: int, /) -> tuple[Self, Labels[Self]]:
        """The ``k`` largest elements along the axis in descending order, and their indices.

        Raises `ShapeError` if the axis has fewer."""

    def take(self, labels: Labels[Self], axis: int, /) -> Self:
        """The slices at the labels along the axis, whose place the axes of the labels take.

        A table of shape (words, n) by labels (batch, time) along axis 0 gives (batch, time, n). Raises `LabelError` for
        a label outside."""

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

    # -- differentiation -----------------------------------------------------------------------------------------

    def stop_gradient(self) -> Self:
        """The same value, constant to every level of differentiation."""
