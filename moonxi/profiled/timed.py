"""`Timed[T]`: a tensor whose operations are timed, and what every operation on it needs."""

from collections.abc import Callable
from typing import Self, override

from moonxi.dims import Dim
from moonxi.dtypes import DType
from moonxi.errors import OperandError
from moonxi.profiled.collector import Profile
from moonxi.profiled.work import Work, moved
from moonxi.traits import DerivedTensor, Labels, Mask, Shape, Tensor, expect_held


class Timed[T: Tensor](DerivedTensor["Timed[T]"]):
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
        """A result that is no single tensor."""
        return self.profile.measure(operation, compute, lambda _: Work(moved(self.value)))

    # -- operands ------------------------------------------------------------------------------------------------

    def _plain(self, other: Self | float, operation: str) -> T | float:
        if isinstance(other, Timed):
            return other.value
        if isinstance(other, (float, int, Dim)):
            return other
        raise self._not_profiled(other, operation)

    def _tensor(self, other: Self, operation: str) -> T:
        """The value of an operand that cannot be a number."""
        if isinstance(other, Timed):
            return other.value
        raise self._not_profiled(other, operation)

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> T:
        """The plain carrier of labels or of a mask."""
        expect_held(operation, held)
        if isinstance(held.carrier, Timed):
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

    def _number(self, other: float, operation: str) -> float:
        if isinstance(other, (float, int, Dim)):
            return other
        raise self._not_profiled(other, operation)


def name(value: object) -> str:
    """The class with what it wraps: ``Profiled[NpArray[F32]]``."""
    own = type(value).__name__
    if isinstance(value, Timed):
        return f"{own}[{name(value.value)}]"
    dtype = getattr(value, "dtype", None)
    return f"{own}[{dtype.__name__}]" if isinstance(dtype, type) else own
