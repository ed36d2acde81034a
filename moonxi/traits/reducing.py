"""The trait `ReducingTensor`: sums, extremes and statistics along axes."""

from typing import Protocol, Self, runtime_checkable

from moonxi.traits.labels import Carrier
from moonxi.traits.notation import Axes


@runtime_checkable
class ReducingTensor(Carrier, Protocol):
    """What is computed over axes. The axes go away, or with ``keepdims`` have size 1."""

    __slots__ = ()

    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The sum over the axes; 0 over nothing."""

    def prod(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The product over the axes; 1 over nothing. The derivative is right also where factors are 0."""

    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        """The mean over the axes; NaN over nothing."""

    def var(self, axes: Axes = None, /, *, correction: int = 1, keepdims: bool = False) -> Self:
        """The sum of the squared distances from the mean, over the number of elements less ``correction``.

        1 estimates the variance of a population from a sample; 0 gives that of the elements. NaN or infinite where
        nothing is left to divide by."""

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
