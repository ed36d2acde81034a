"""The trait `Tensor`, element by element, on NumPy."""

from typing import Any, Self, override

import numpy as np

from moonxi import shapes
from moonxi.backends.numpy.error_function import erf
from moonxi.backends.numpy.selection import selected
from moonxi.backends.numpy.stored import NumpyStored
from moonxi.dtypes import Floating
from moonxi.traits import Mask


class NumpyElementwise[D: Floating](NumpyStored[D]):
    """Functions, comparisons and choices."""

    __slots__ = ()

    # -- arithmetic ----------------------------------------------------------------------------------------------

    @override
    def __add__(self, other: Self | float, /) -> Self:
        return self._binary(np.add, "add", other)

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        return self._binary(np.subtract, "subtract", other)

    @override
    def __rsub__(self, other: float, /) -> Self:
        return type(self)(np.subtract(self._operand(other, "subtract"), self.data))

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        return self._binary(np.multiply, "multiply", other)

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        return self._binary(np.divide, "divide", other)

    @override
    def __rtruediv__(self, other: float, /) -> Self:
        return type(self)(np.divide(self._operand(other, "divide"), self.data))

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        return self._binary(np.power, "power", other)

    @override
    def __neg__(self) -> Self:
        return type(self)(np.negative(self.data))

    @override
    def exp(self) -> Self:
        return type(self)(np.exp(self.data))

    @override
    def expm1(self) -> Self:
        return type(self)(np.expm1(self.data))

    @override
    def log(self) -> Self:
        return type(self)(np.log(self.data))

    @override
    def log1p(self) -> Self:
        return type(self)(np.log1p(self.data))

    @override
    def sin(self) -> Self:
        return type(self)(np.sin(self.data))

    @override
    def cos(self) -> Self:
        return type(self)(np.cos(self.data))

    @override
    def erf(self) -> Self:
        out = np.empty(self.data.shape, self.data.dtype)
        erf(self.data, out=out)
        return type(self)(out)

    @override
    def tanh(self) -> Self:
        return type(self)(np.tanh(self.data))

    @override
    def abs(self) -> Self:
        return type(self)(np.absolute(self.data))

    @override
    def sign(self) -> Self:
        return type(self)(np.sign(self.data))

    @override
    def sqrt(self) -> Self:
        return type(self)(np.sqrt(self.data))

    @override
    def floor(self) -> Self:
        return type(self)(np.floor(self.data))

    @override
    def square(self) -> Self:
        return type(self)(np.square(self.data))

    @override
    def relu(self) -> Self:
        return type(self)(np.maximum(self.data, 0.0))

    @override
    def maximum(self, other: Self | float, /) -> Self:
        return self._binary(np.maximum, "maximum", other)

    @override
    def minimum(self, other: Self | float, /) -> Self:
        return self._binary(np.minimum, "minimum", other)

    # -- comparison ----------------------------------------------------------------------------------------------

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.less, "less", other))

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.less_equal, "less_equal", other))

    @override
    def __gt__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.greater, "greater", other))

    @override
    def __ge__(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.greater_equal, "greater_equal", other))

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.equal, "equal", other))

    @override
    def not_equal(self, other: Self | float, /) -> Mask[Self]:
        return Mask(self._binary(np.not_equal, "not_equal", other))

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        condition = self._held(mask, "where")
        right = self._operand(other, "where")
        try:
            if self.data.dtype.kind == "f":
                return type(self)(selected(condition, self.data, right))
            whole: Any = np.where(condition, self.data, right).astype(self.data.dtype, copy=False)
            return type(self)(whole)  # labels and masks stay what they are beside a number
        except ValueError:
            shapes.broadcast("where", condition.shape, self.shape, np.shape(right))
            raise
