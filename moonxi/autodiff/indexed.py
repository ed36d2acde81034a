"""The trait `Tensor`, by index, under differentiation."""

from typing import Self, override

from moonxi.autodiff.pullback import put_back
from moonxi.autodiff.shaping import GradShaping
from moonxi.traits import Labels, Tensor


class GradIndexed[T: Tensor](GradShaping[T]):
    """Finding, sorting, choosing and putting. Indices are constants."""

    __slots__ = ()

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        return Labels(type(self)(self.value.argmax(axis).carrier))

    @override
    def argmin(self, axis: int, /) -> Labels[Self]:
        return Labels(type(self)(self.value.argmin(axis).carrier))

    @override
    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        return Labels(type(self)(self.value.argsort(axis, descending=descending).carrier))

    @override
    def take(self, labels: Labels[Self], axis: int, /) -> Self:
        plain = Labels(self._held(labels, "take"))
        value, shape = self.value.take(plain, axis), self.shape
        return self._unary(value, lambda g: put_back(g, plain, shape, axis))

    @override
    def pick(self, labels: Labels[Self], /) -> Self:
        plain = Labels(self._held(labels, "pick"))
        value = self.value.pick(plain)
        classes = self.shape[-1]
        return self._unary(value, lambda g: g.put(plain, classes))

    @override
    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        plain = Labels(self._held(labels, "put"))
        return self._unary(self.value.put(plain, classes), lambda g: g.pick(plain))

    @override
    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        return type(self)(self.value.one_hot(Labels(self._held(labels, "one_hot")), classes))

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        plain = Labels(self._held(labels, "gather"))
        value, shape = self.value.gather(plain), self.shape
        return self._unary(value, lambda g: g.scatter_add(plain, shape[-1]))

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        plain = Labels(self._held(labels, "scatter_add"))
        return self._unary(self.value.scatter_add(plain, size), lambda g: g.gather(plain))
