"""The trait `Tensor`, element by element, under differentiation."""

from math import pi, sqrt
from typing import Self, override

from moonxi.autodiff.node import Node
from moonxi.autodiff.pullback import larger, same
from moonxi.traits import Mask, Tensor


class GradElementwise[T: Tensor](Node[T]):
    """Functions, comparisons and choices."""

    __slots__ = ()

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        if isinstance(other, GradElementwise):
            return self._binary(other, self.value + other.value, same, same)
        return self._unary(self.value + self._number(other, "add"), same)

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        if isinstance(other, GradElementwise):
            return self._binary(other, self.value - other.value, same, lambda g: -g)
        return self._unary(self.value - self._number(other, "subtract"), same)

    @override
    def __rsub__(self, other: float, /) -> Self:
        return self._unary(self._number(other, "subtract") - self.value, lambda g: -g)

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        if isinstance(other, GradElementwise):
            x, y = self.value, other.value
            return self._binary(other, x * y, lambda g: g * y, lambda g: g * x)
        k = self._number(other, "multiply")
        return self._unary(self.value * k, lambda g: g * k)

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        if isinstance(other, GradElementwise):
            y = other.value
            quotient = self.value / y
            return self._binary(other, quotient, lambda g: g / y, lambda g: -(g * quotient / y))
        k = self._number(other, "divide")
        return self._unary(self.value / k, lambda g: g / k)

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        x = self.value
        if isinstance(other, GradElementwise):
            y = other.value
            power = x**y

            def of_base(g: T) -> T:
                # y * x**(y-1), which is 0 for x = y = 0; there the base is replaced, not the result, lest its own
                # gradient become 0 times infinity
                return g * y * x.where(~(x.equal(0.0) & y.equal(0.0)), 1.0) ** (y - 1.0)

            def of_exponent(g: T) -> T:
                # x**y * log(x), which is 0 where x is 0 and y is not negative
                return g * power * x.where(~(x.equal(0.0) & (y >= 0.0)), 1.0).log()

            return self._binary(other, power, of_base, of_exponent)
        k = self._number(other, "power")
        return self._unary(x**k, lambda g: g * 0.0 if k == 0.0 else g * x ** (k - 1.0) * k)

    @override
    def __neg__(self) -> Self:
        return self._unary(-self.value, lambda g: -g)

    @override
    def exp(self) -> Self:
        e = self.value.exp()
        return self._unary(e, lambda g: g * e)

    @override
    def expm1(self) -> Self:
        e = self.value.expm1()
        return self._unary(e, lambda g: g * (e + 1.0))

    @override
    def log(self) -> Self:
        x = self.value
        return self._unary(x.log(), lambda g: g / x)

    @override
    def log1p(self) -> Self:
        x = self.value
        return self._unary(x.log1p(), lambda g: g / (x + 1.0))

    @override
    def sin(self) -> Self:
        x = self.value
        return self._unary(x.sin(), lambda g: g * x.cos())

    @override
    def cos(self) -> Self:
        x = self.value
        return self._unary(x.cos(), lambda g: -(g * x.sin()))

    @override
    def erf(self) -> Self:
        x = self.value
        return self._unary(x.erf(), lambda g: g * (-x.square()).exp() * (2.0 / sqrt(pi)))

    @override
    def sigmoid(self) -> Self:
        s = self.value.sigmoid()
        return self._unary(s, lambda g: g * (s * (1.0 - s)))

    @override
    def softplus(self) -> Self:
        x = self.value
        return self._unary(x.softplus(), lambda g: g * x.sigmoid())

    @override
    def tanh(self) -> Self:
        t = self.value.tanh()
        return self._unary(t, lambda g: g * (1.0 - t * t))

    @override
    def abs(self) -> Self:
        x = self.value
        return self._unary(x.abs(), lambda g: g * x.sign())

    @override
    def sign(self) -> Self:
        return type(self)(self.value.sign())

    @override
    def sqrt(self) -> Self:
        root = self.value.sqrt()
        return self._unary(root, lambda g: g / (root * 2.0))

    @override
    def floor(self) -> Self:
        return type(self)(self.value.floor())

    @override
    def square(self) -> Self:
        x = self.value
        return self._unary(x.square(), lambda g: g * (x * 2.0))

    @override
    def relu(self) -> Self:
        x = self.value
        return self._unary(x.relu(), lambda g: g.where(x > 0.0, 0.0))

    @override
    def maximum(self, other: Self | float, /) -> Self:
        x = self.value
        if isinstance(other, GradElementwise):
            y = other.value
            return self._binary(other, x.maximum(y), lambda g: larger(g, x, y), lambda g: larger(g, y, x))
        k = self._number(other, "maximum")
        return self._unary(x.maximum(k), lambda g: g.where(x > k, (g * 0.5).where(x.equal(k), 0.0)))

    @override
    def minimum(self, other: Self | float, /) -> Self:
        x = self.value
        if isinstance(other, GradElementwise):
            y = other.value
            return self._binary(other, x.minimum(y), lambda g: larger(g, y, x), lambda g: larger(g, x, y))
        k = self._number(other, "minimum")
        return self._unary(x.minimum(k), lambda g: g.where(x < k, (g * 0.5).where(x.equal(k), 0.0)))

    # -- comparison ----------------------------------------------------------------------------------------------

    def _mask(self, mask: Mask[T]) -> Mask[Self]:
        return Mask(type(self)(mask.carrier))

    def _plain(self, other: Self | float, operation: str) -> T | float:
        return other.value if isinstance(other, GradElementwise) else self._number(other, operation)

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value < self._plain(other, "less"))

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value <= self._plain(other, "less_equal"))

    @override
    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value > self._plain(other, "greater"))

    @override
    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value >= self._plain(other, "greater_equal"))

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value.equal(self._plain(other, "equal")))

    @override
    def not_equal(self, other: Self | float, /) -> Mask[Self]:
        return self._mask(self.value.not_equal(self._plain(other, "not_equal")))

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        plain = Mask(self._held(mask, "where"))
        # The number case goes the same way: the mask may be the larger operand.
        right = other if isinstance(other, GradElementwise) else self.full((), self._number(other, "where"))
        value = self.value.where(plain, right.value)
        return self._binary(right, value, lambda g: g.where(plain, 0.0), lambda g: g.full((), 0.0).where(plain, g))
