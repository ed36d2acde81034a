"""The trait `Tensor`, element by element, timed."""

from typing import Self, override

from moonxi.profiled.timed import Timed
from moonxi.traits import Mask, Tensor


class ProfiledElementwise[T: Tensor](Timed[T]):
    """Functions, comparisons and choices."""

    __slots__ = ()

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

    @override
    def expm1(self) -> Self:
        return self.timed("expm1", self.value.expm1)

    @override
    def log1p(self) -> Self:
        return self.timed("log1p", self.value.log1p)

    @override
    def sin(self) -> Self:
        return self.timed("sin", self.value.sin)

    @override
    def cos(self) -> Self:
        return self.timed("cos", self.value.cos)

    @override
    def erf(self) -> Self:
        return self.timed("erf", self.value.erf)

    @override
    def sigmoid(self) -> Self:
        return self.timed("sigmoid", self.value.sigmoid)

    @override
    def softplus(self) -> Self:
        return self.timed("softplus", self.value.softplus)

    @override
    def abs(self) -> Self:
        return self.timed("abs", self.value.abs)

    @override
    def sign(self) -> Self:
        return self.timed("sign", self.value.sign)

    @override
    def minimum(self, other: Self | float, /) -> Self:
        y = self._plain(other, "minimum")
        return self.timed("minimum", lambda: self.value.minimum(y), y)

    @override
    def clip(self, low: float, high: float, /) -> Self:
        return self.timed("clip", lambda: self.value.clip(low, high))

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

    @override
    def not_equal(self, other: Self | float, /) -> Mask[Self]:
        y = self._plain(other, "not_equal")
        return self._timed_mask("not_equal", lambda: self.value.not_equal(y), y)

    @override
    def masked_fill(self, mask: Mask[Self], fill: float, /) -> Self:
        carrier = self._held(mask, "masked_fill")
        return self.timed("masked_fill", lambda: self.value.masked_fill(Mask(carrier), fill), carrier)
