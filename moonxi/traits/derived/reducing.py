"""The rest of the trait `Tensor`, along axes."""

from math import inf, nan, prod
from typing import Self

from moonxi import shapes
from moonxi.dims import provably_at_most
from moonxi.errors import OptionError
from moonxi.settings import whole
from moonxi.traits.derived.shaping import DerivedShaping
from moonxi.traits.foreign import number
from moonxi.traits.notation import Axes


class DerivedReducing(DerivedShaping):
    """Statistics by means of sums and largest elements."""

    __slots__ = ()

    def prod(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        found = self
        for axis in shapes.axes(self.shape, axes, "prod"):
            found = found._product(axis)
        return found.reshape(shapes.reduced("prod", self.shape, axes, keepdims=keepdims, one=1))

    def _product(self, axis: int) -> Self:
        """The product along one axis, which is kept: halves are multiplied until one is left.

        So the derivative of a factor is the product of the others, also where some are 0."""
        here = (slice(None),) * axis
        if not shapes.known(self.shape[axis]):
            return self.sum(axis, keepdims=True)  # of a symbolic size there are no elements, and the shape is the same
        if self.shape[axis] == 0:
            return self.sum(axis, keepdims=True) + 1.0
        while self.shape[axis] > 1:
            half = self.shape[axis] // 2
            pairs = self[(*here, slice(half))] * self[(*here, slice(half, 2 * half))]
            self = pairs.concatenate(self[(*here, slice(2 * half, None))], axis=axis)  # the odd one, or none
        return self

    def mean(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        # Not `if count`: a symbolic size has no truth. One over it is NaN, which scales shapes without elements.
        count = self._count(axes, "mean")
        return self.sum(axes, keepdims=keepdims) * (float("nan") if count == 0 else 1.0 / count)

    def _count(self, axes: Axes, operation: str) -> int:
        return prod(self.shape[axis] for axis in shapes.axes(self.shape, axes, operation))

    def var(self, axes: Axes = None, /, *, correction: int = 1, keepdims: bool = False) -> Self:
        whole("var", 0, correction=correction)
        left = self._count(axes, "var") - correction
        squares = (self - self.mean(axes, keepdims=True)).square().sum(axes, keepdims=keepdims)
        return squares * (nan if provably_at_most(left, 0) else 1.0 / left)

    def std(self, axes: Axes = None, /, *, correction: int = 1, keepdims: bool = False) -> Self:
        return self.var(axes, correction=correction, keepdims=keepdims).sqrt()

    def min(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        shapes.nothing_to_reduce("min", self.shape, axes)
        return -(-self).max(axes, keepdims=keepdims)

    def norm(self, axes: Axes = None, /, *, order: float = 2.0, keepdims: bool = False) -> Self:
        number("norm", "order", order)
        if not order >= 1.0:
            raise OptionError(f"norm: order {order}: a norm has an order of at least 1, or math.inf")
        size = self.abs()
        if order == inf:
            shapes.nothing_to_reduce("norm", self.shape, axes)
            return size.max(axes, keepdims=keepdims)
        if order == 1.0:
            return size.sum(axes, keepdims=keepdims)
        # In units of the largest element nothing overflows; the unit is 1 where all are 0, and the root's derivative
        # there is that of a constant.
        unit = size.stop_gradient().max(axes, keepdims=True) if self._count(axes, "norm") != 0 else size.full((), 1.0)
        nothing = unit.equal(0.0)
        unit = unit.masked_fill(nothing, 1.0)
        powers = (size / unit) ** order
        total = powers.sum(axes, keepdims=True)
        root = total.masked_fill(total.equal(0.0), 1.0) ** (1.0 / order)
        found = (root * unit).masked_fill(total.equal(0.0), 0.0)
        return found.reshape(shapes.reduced("norm", self.shape, axes, keepdims=keepdims, one=1))

    def logsumexp(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        shapes.nothing_to_reduce("logsumexp", self.shape, axes)
        largest = self.stop_gradient().max(axes, keepdims=True)
        shift = largest.masked_fill(largest.abs().equal(inf), 0.0)  # inf - inf would be NaN
        found = (self - shift).exp().sum(axes, keepdims=True).log() + shift
        return found.reshape(shapes.reduced("logsumexp", self.shape, axes, keepdims=keepdims, one=1))

    def cumsum(self, axis: int, /) -> Self:
        axis = shapes.axis(self.shape, axis, "cumsum")
        here = (slice(None),) * axis
        found, reach = self, 1
        while reach < self.shape[axis]:  # each pass doubles how far back a sum reaches (Hillis and Steele 1986)
            earlier = found[(*here, slice(self.shape[axis] - reach))]
            found = found + earlier.put_slice((*here, slice(reach, None)), self.shape)
            reach *= 2
        return found

    def softmax(self, axis: int, /) -> Self:
        shapes.nothing_to_reduce("softmax", self.shape, axis)
        e = (self - self.max(axis, keepdims=True).stop_gradient()).exp()
        return e / e.sum(axis, keepdims=True)

    def log_softmax(self, axis: int, /) -> Self:
        shapes.nothing_to_reduce("log_softmax", self.shape, axis)
        shifted = self - self.max(axis, keepdims=True).stop_gradient()
        return shifted - shifted.exp().sum(axis, keepdims=True).log()
