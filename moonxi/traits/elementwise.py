"""The trait `ElementwiseTensor`: functions of each element, comparisons and choices."""

from typing import Protocol, Self, runtime_checkable

from moonxi.traits.labels import Carrier, Mask


@runtime_checkable
class ElementwiseTensor(Carrier, Protocol):
    """What is computed for each element on its own. Binary operations broadcast as NumPy does."""

    __slots__ = ()

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
