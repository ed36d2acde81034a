"""The trait `Tensor`, along axes, timed."""

from typing import Self, override

from moonxi.profiled.elementwise import ProfiledElementwise
from moonxi.traits import Axes, Tensor


class ProfiledReducing[T: Tensor](ProfiledElementwise[T]):
    """Sums, extremes and statistics."""

    __slots__ = ()

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("sum", lambda: self.value.sum(axes, keepdims=keepdims))

    @override
    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("mean", lambda: self.value.mean(axes, keepdims=keepdims))

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("max", lambda: self.value.max(axes, keepdims=keepdims))

    @override
    def prod(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("prod", lambda: self.value.prod(axes, keepdims=keepdims))

    @override
    def min(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("min", lambda: self.value.min(axes, keepdims=keepdims))

    @override
    def logsumexp(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self.timed("logsumexp", lambda: self.value.logsumexp(axes, keepdims=keepdims))

    @override
    def var(self, axes: Axes = None, /, *, correction: int = 1, keepdims: bool = False) -> Self:
        return self.timed("var", lambda: self.value.var(axes, correction=correction, keepdims=keepdims))

    @override
    def std(self, axes: Axes = None, /, *, correction: int = 1, keepdims: bool = False) -> Self:
        return self.timed("std", lambda: self.value.std(axes, correction=correction, keepdims=keepdims))

    @override
    def norm(self, axes: Axes = None, /, *, order: float = 2.0, keepdims: bool = False) -> Self:
        return self.timed("norm", lambda: self.value.norm(axes, order=order, keepdims=keepdims))

    @override
    def cumsum(self, axis: int, /) -> Self:
        return self.timed("cumsum", lambda: self.value.cumsum(axis))

    @override
    def softmax(self, axis: int, /) -> Self:
        return self.timed("softmax", lambda: self.value.softmax(axis))

    @override
    def log_softmax(self, axis: int, /) -> Self:
        return self.timed("log_softmax", lambda: self.value.log_softmax(axis))
