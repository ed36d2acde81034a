"""`Profiled[T]`: the trait `Tensor`, timed.

Every operation is the same operation of ``T``, derived ones too, so that what a backend does in its own way is what
runs and what is timed. Nothing is computed here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi.dims import Dim
from moonxi.dtypes import DType, HostArray
from moonxi.errors import OperandError
from moonxi.key import Key
from moonxi.profiled.collector import Profile
from moonxi.profiled.work import Work, moved
from moonxi.traits import Axes, DerivedTensor, Index, Labels, Mask, Shape, Tensor


class Profiled[T: Tensor](DerivedTensor["Profiled[T]"]):
    """A tensor ``value`` whose operations are timed in ``profile``; of two operands, in that of the first.

    Results are bit for bit those of ``T``. Make one with `moonxi.profile`."""

    __slots__ = ("profile", "value")

    def __init__(self, value: T, profile: Profile, /) -> None:
        self.value: T = value
        self.profile = profile

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    @property
    @override
    def shape(self) -> Shape:
        return self.value.shape

    @property
    @override
    def dtype(self) -> type[DType]:
        return self.value.dtype

    # -- timing --------------------------------------------------------------------------------------------------

    def timed(
        self, operation: str, compute: Callable[[], T], *others: T | float, flops: Callable[[T], int] | None = None
    ) -> Self:
        """The result of an operation on this tensor and others, timed: for whoever adds operations to a subclass.

        ``compute`` works on ``value``; of ``others`` the sizes count, and ``flops`` is asked with the result."""

        def work(result: T) -> Work:
            return Work(moved(self.value, *others, result), flops(result) if flops else 0)

        return type(self)(self.profile.measure(operation, compute, work), self.profile)

    def _timed_mask(self, operation: str, compute: Callable[[], Mask[T]], *others: T | float) -> Mask[Self]:
        def work(result: Mask[T]) -> Work:
            return Work(moved(self.value, *others, result.carrier))

        return Mask(type(self)(self.profile.measure(operation, compute, work).carrier, self.profile))

    def _timed_labels(self, operation: str, compute: Callable[[], Labels[T]]) -> Labels[Self]:
        def work(result: Labels[T]) -> Work:
            return Work(moved(self.value, result.carrier))

        return Labels(type(self)(self.profile.measure(operation, compute, work).carrier, self.profile))

    def _read[R](self, operation: str, compute: Callable[[], R]) -> R:
        """A result that is on the host."""
        return self.profile.measure(operation, compute, lambda _: Work(moved(self.value)))

    # -- operands ------------------------------------------------------------------------------------------------

    def _plain(self, other: Self | float, operation: str) -> T | float:
        if isinstance(other, Profiled):
            return other.value
        if isinstance(other, (float, int, Dim)):
            return other
        raise self._not_profiled(other, operation)

    def _number(self, other: float, operation: str) -> float:
        if isinstance(other, (float, int, Dim)):
            return other
        raise self._not_profiled(other, operation)

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> T:
        """The plain carrier of labels or of a mask."""
        if isinstance(held.carrier, Profiled):
            return held.carrier.value
        kind = type(held).__name__
        raise OperandError(
            f"{operation}: {name(self)} with {kind} of {name(held.carrier)}: both must be profiled; bring the "
            f"{kind.lower()} in with {kind.lower()}.map(lambda x: profile(x, into=p))"
        )

    def _not_profiled(self, other: object, operation: str) -> OperandError:
        return OperandError(
            f"{operation}: {name(self)} with {name(other)}: both operands must be profiled; bring a plain tensor in "
            "with profile(x, into=p), or take the plain one out with x.value"
        )

    # -- from and to the host --------------------------------------------------------------------------------

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        return self.timed("full", lambda: self.value.full(shape, fill))

    @override
    def zeros(self, shape: Shape, /) -> Self:
        return self.timed("zeros", lambda: self.value.zeros(shape))

    @override
    def ones(self, shape: Shape, /) -> Self:
        return self.timed("ones", lambda: self.value.ones(shape))

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        return self.timed("from_host", lambda: self.value.from_host(array))

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        return self._timed_labels("labels", lambda: self.value.labels(array))

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        return self.timed("uniform", lambda: self.value.uniform(shape, key))

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        return self.timed("normal", lambda: self.value.normal(shape, key))

    @override
    def to_host(self) -> HostArray:
        return self._read("to_host", self.value.to_host)

    @override
    def item(self) -> float:
        return self._read("item", self.value.item)

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        y = self._plain(other, "add")
        return self.timed("add", lambda: self.value + y, y)

    @override
    def __radd__(self, other: float, /) -> Self:
        k = self._number(other, "add")
        return self.timed("add", lambda: k + self.value)

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        y = self._plain(other, "subtract")
        return self.timed("subtract", lambda: self.value - y, y)

    @override
    def __rsub__(self, other: float, /) -> Self:
        k = self._number(other, "subtract")
        return self.timed("subtract", lambda: k - self.value)

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        y = self._plain(other, "multiply")
        return self.timed("multiply", lambda: self.value * y, y)

    @override
    def __rmul__(self, other: float, /) -> Self:
        k = self._number(other, "multiply")
        return self.timed("multiply", lambda: k * self.value)

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        y = self._plain(other, "divide")
        return self.timed("divide", lambda: self.value / y, y)

    @override
    def __rtruediv__(self, other: float, /) -> Self:
        k = self._number(other, "divide")
        return self.timed("divide", lambda: k / self.value)

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        y = self._plain(other, "power")
        return self.timed("power", lambda: self.value**y, y)

    @override
    def __rpow__(self, other: float, /) -> Self:
        k = self._number(other, "power")
        return self.timed("power", lambda: k**self.value)

    @override
    def __neg__(self) -> Self:
        return self.timed("negate", lambda: -self.value)

    @override
    def exp(self) -> Self:
        return self.timed("exp", self.value.exp)

    @override
    def log(self) -> Self:
        return self.timed("log", self.value.log)

    @override
    def tanh(self) -> Self:
        return self.timed("tanh", self.value.tanh)

    @override
    def sqrt(self) -> Self:
        return self.timed("sqrt", self.value.sqrt)

    @override
    def floor(self) -> Self:
        return self.timed("floor", self.value.floor)

    @override
    def square(self) -> Self:
        return self.timed("square", self.value.square)

    @override
    def relu(self) -> Self:
        return self.timed("relu", self.value.relu)

    @override
    def maximum(self, other: Self | float, /) -> Self:
        y = self._plain(other, "maximum")
        return self.timed("maximum", lambda: self.value.maximum(y), y)

    # -- comparison ----------------------------------------------------------------------------------------------

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        y = self._plain(other, "less")
        return self._timed_mask("less", lambda: self.value < y, y)

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        y = self._plain(other, "less_equal")
        return self._timed_mask("less_equal", lambda: self.value <= y, y)

    @override
    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        y = self._plain(other, "greater")
        return self._timed_mask("greater", lambda: self.value > y, y)

    @override
    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        y = self._plain(other, "greater_equal")
        return self._timed_mask("greater_equal", lambda: self.value >= y, y)

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        y = self._plain(other, "equal")
        return self._timed_mask("equal", lambda: self.value.equal(y), y)

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        carrier, y = self._held(mask, "where"), self._plain(other, "where")
        return self.timed("where", lambda: self.value.where(Mask(carrier), y), carrier, y)

    # -- reductions ----------------------------------------------------------------------------------------------

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("sum", lambda: self.value.sum(axes, keepdims=keepdims))

    @override
    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("mean", lambda: self.value.mean(axes, keepdims=keepdims))

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("max", lambda: self.value.max(axes, keepdims=keepdims))

    # -- shape ---------------------------------------------------------------------------------------------------

    @override
    def reshape(self, shape: Shape, /) -> Self:
        return self.timed("reshape", lambda: self.value.reshape(shape))

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        return self.timed("permute", lambda: self.value.permute(axes))

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        return self.timed("broadcast_to", lambda: self.value.broadcast_to(shape))

    @override
    def sum_to(self, shape: Shape, /) -> Self:
        return self.timed("sum_to", lambda: self.value.sum_to(shape))

    @override
    def __getitem__(self, index: Index, /) -> Self:
        return self.timed("index", lambda: self.value[index])

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        return self.timed("put_slice", lambda: self.value.put_slice(index, shape))

    # -- classes -------------------------------------------------------------------------------------------------

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        return self._timed_labels("argmax", lambda: self.value.argmax(axis))

    @override
    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        held = self._held(labels, "one_hot")
        return self.timed("one_hot", lambda: self.value.one_hot(Labels(held), classes), held)

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        held = self._held(labels, "gather")
        return self.timed("gather", lambda: self.value.gather(Labels(held)), held)

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        held = self._held(labels, "scatter_add")
        return self.timed("scatter_add", lambda: self.value.scatter_add(Labels(held), size), held)

    @override
    def pick(self, labels: Labels[Self], /) -> Self:
        held = self._held(labels, "pick")
        return self.timed("pick", lambda: self.value.pick(Labels(held)), held)

    @override
    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        held = self._held(labels, "put")
        return self.timed("put", lambda: self.value.put(Labels(held), classes), held)

    @override
    def softmax(self, axis: int, /) -> Self:
        return self.timed("softmax", lambda: self.value.softmax(axis))

    @override
    def log_softmax(self, axis: int, /) -> Self:
        return self.timed("log_softmax", lambda: self.value.log_softmax(axis))

    # -- differentiation -----------------------------------------------------------------------------------------

    @override
    def stop_gradient(self) -> Self:
        return self.timed("stop_gradient", self.value.stop_gradient)


def name(value: object) -> str:
    """The class with what it wraps: ``Profiled[NpArray[F32]]``."""
    own = type(value).__name__
    if isinstance(value, Profiled):
        return f"{own}[{name(value.value)}]"
    dtype = getattr(value, "dtype", None)
    return f"{own}[{dtype.__name__}]" if isinstance(dtype, type) else own


if TYPE_CHECKING:

    def _conforms[T: Tensor](_: type[Profiled[T]]) -> type[Tensor]:
        return Profiled[T]
