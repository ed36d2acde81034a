"""The rest of the trait `Tensor`, by index."""

from math import prod
from typing import Self

from moonxi import shapes
from moonxi.traits.derived.reducing import DerivedReducing
from moonxi.traits.labels import Labels


class DerivedIndexed(DerivedReducing):
    """Finding, sorting and choosing by means of `gather` and `scatter_add` along the last axis."""

    __slots__ = ()

    def argmin(self, axis: int, /) -> Labels[Self]:
        shapes.nothing_to_reduce("argmin", self.shape, axis)
        return (-self).argmax(axis)

    def sort(self, axis: int, /, *, descending: bool = False) -> Self:
        return self._gathered(self.argsort(axis, descending=descending), axis)

    def topk(self, k: int, axis: int, /) -> tuple[Self, Labels[Self]]:
        shapes.topk(self.shape, k, axis)
        here = (slice(None),) * shapes.axis(self.shape, axis, "topk")
        labels = self.argsort(axis, descending=True)[(*here, slice(k))]
        return self._gathered(labels, axis), labels

    def _gathered(self, labels: Labels[Self], axis: int) -> Self:
        """`gather` along any axis."""
        order = shapes.to_last(self.shape, axis, "gather")
        found = self.permute(order).gather(labels.permute(order))
        return found.permute(shapes.inverse(order))

    def take(self, labels: Labels[Self], axis: int, /) -> Self:
        whole = shapes.take(self.shape, labels.shape, axis)
        order = shapes.to_last(self.shape, axis, "take")
        found = self.permute(order).gather(labels.reshape((prod(labels.shape),)))
        return found.permute(shapes.inverse(order)).reshape(whole)

    def pick(self, labels: Labels[Self], /) -> Self:
        shapes.pick(self.shape, labels.shape)
        return self.gather(labels[..., None])[..., 0]

    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        shapes.put(self.shape, labels.shape, classes)
        return self[..., None].scatter_add(labels[..., None], classes)

    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        shapes.one_hot(labels.shape, classes)
        return self.full(labels.shape, 1.0).put(labels, classes)
