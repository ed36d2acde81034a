"""The trait `Tensor`, along axes, under differentiation."""

from typing import Self, override

from moonxi import shapes
from moonxi.autodiff.elementwise import GradElementwise
from moonxi.traits import Axes, Shape, Tensor


class GradReducing[T: Tensor](GradElementwise[T]):
    """Sums, extremes and statistics."""

    __slots__ = ()

    def _kept(self, axes: Axes, operation: str) -> Shape:
        return shapes.reduced(operation, self.shape, axes, keepdims=True, one=1)

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        shape, kept = self.shape, self._kept(axes, "sum")
        return self._unary(self.value.sum(axes, keepdims=keepdims), lambda g: g.reshape(kept).broadcast_to(shape))

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        x, kept = self.value, self._kept(axes, "max")
        largest = x.max(axes, keepdims=keepdims)

        def vjp(g: T) -> T:
            chosen = x.equal(largest.reshape(kept))
            share = g.reshape(kept) / chosen.to_tensor(x).sum(axes, keepdims=True)
            return share.broadcast_to(x.shape).where(chosen, 0.0)

        return self._unary(largest, vjp)

    @override
    def cumsum(self, axis: int, /) -> Self:
        return self._unary(self.value.cumsum(axis), lambda g: g.flip(axis).cumsum(axis).flip(axis))

    @override
    def softmax(self, axis: int, /) -> Self:
        s = self.value.softmax(axis)
        return self._unary(s, lambda g: s * (g - (g * s).sum(axis, keepdims=True)))

    @override
    def log_softmax(self, axis: int, /) -> Self:
        logs = self.value.log_softmax(axis)
        return self._unary(logs, lambda g: g - logs.exp() * g.sum(axis, keepdims=True))
