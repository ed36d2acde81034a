"""The rest of the trait `Tensor`, element by element."""

from typing import TYPE_CHECKING, NoReturn, Self, override

from moonxi import shapes
from moonxi.dims import Dim
from moonxi.errors import OperandError, OptionError
from moonxi.traits.derived.primitives import Primitives
from moonxi.traits.foreign import number
from moonxi.traits.labels import Mask


class DerivedElementwise(Primitives):
    """Functions, comparisons and choices by means of the primitives."""

    __slots__ = ()
    __array_ufunc__ = None  # an ndarray on the left then leaves the operation to us, and we refuse it

    def _from_left(self, other: object, operation: str) -> Self:
        """A Python number that stands on the left, as a scalar."""
        if isinstance(other, (float, int, Dim)):
            return self.full((), float(other))
        raise OperandError(
            f"{operation}: {type(other).__name__} with {type(self).__name__}: the operand must be a tensor of the same "
            "class or a Python number"
        )

    def _broadcasts(self, operation: str, other: object) -> None:
        """Refuse shapes in the name of an operation that is derived from another."""
        if isinstance(other, DerivedElementwise):
            shapes.broadcast(operation, self.shape, other.shape)

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

    def abs(self) -> Self:
        return self * self.sign()

    def sign(self) -> Self:
        x = self.stop_gradient()
        plus, minus = self.full((), 1.0), self.full((), -1.0)
        return plus.where(x > 0.0, minus.where(x < 0.0, x))  # what is left is 0 or NaN

    def square(self) -> Self:
        return self * self

    def minimum(self, other: Self | float, /) -> Self:
        self._broadcasts("minimum", other)
        return -(-self).maximum(-other)

    def clip(self, low: float, high: float, /) -> Self:
        number("clip", "low", low)
        number("clip", "high", high)
        if low > high:
            raise OptionError(f"clip: from {low} to {high}: the lower bound cannot be greater than the upper")
        clipped = self.stop_gradient().maximum(low).minimum(high)
        return self.where((self >= low) & (self <= high), clipped)

    def sigmoid(self) -> Self:
        small: Self = (-self.abs()).exp()  # at most 1, so that nothing overflows
        return small.full((), 1.0).where(self >= 0.0, small) / (small + 1.0)

    def softplus(self) -> Self:
        return self.relu() + (-self.abs()).exp().log1p()

    def relu(self) -> Self:
        return self.full((), 0.0).where(self <= 0.0, self)

    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return (other if isinstance(other, DerivedElementwise) else self._from_left(other, "greater")) < self

    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return (other if isinstance(other, DerivedElementwise) else self._from_left(other, "greater_equal")) <= self

    def not_equal(self, other: Self | float, /) -> Mask[Self]:
        self._broadcasts("not_equal", other)
        return ~self.equal(other)

    def masked_fill(self, mask: Mask[Self], fill: float, /) -> Self:
        shapes.broadcast("masked_fill", mask.shape, self.shape)
        return self.where(~mask, fill)

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

    if not TYPE_CHECKING:  # for checkers a tensor has neither, so that they refuse both

        def __float__(self):
            raise OperandError(f"float({type(self).__name__}): read the number with x.item()")

        def __format__(self, spec):
            if spec:
                raise OperandError(f"format {spec!r} of {type(self).__name__}: read the number with x.item()")
            return str(self)

    def __bool__(self) -> NoReturn:
        raise OperandError(
            f"bool({type(self).__name__}): a tensor is not one truth: use mask.select(a, b) to choose on the device, "
            "or x.item() to read a single number"
        )
