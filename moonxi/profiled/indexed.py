"""The trait `Tensor`, by index, timed."""

from typing import Self, override

from moonxi.profiled.shaping import ProfiledShaping
from moonxi.traits import Labels, Tensor


class ProfiledIndexed[T: Tensor](ProfiledShaping[T]):
    """Finding, sorting, choosing and putting."""

    __slots__ = ()

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        return self._timed_labels("argmax", lambda: self.value.argmax(axis))

    @override
    def one_hot(self, labels: Labels[Self], classes: int, /) -> Self:
        held = self._held(labels, "one_hot")
        return self.timed("one_hot", lambda: self.value.one_hot(Labels(held), classes), held)

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        held = self._held(labels, "gather")
        return self.timed("gather", lambda: self.value.gather(Labels(held)), held)

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        held = self._held(labels, "scatter_add")
        return self.timed("scatter_add", lambda: self.value.scatter_add(Labels(held), size), held)

    @override
    def pick(self, labels: Labels[Self], /) -> Self:
        held = self._held(labels, "pick")
        return self.timed("pick", lambda: self.value.pick(Labels(held)), held)

    @override
    def put(self, labels: Labels[Self], classes: int, /) -> Self:
        held = self._held(labels, "put")
        return self.timed("put", lambda: self.value.put(Labels(held), classes), held)

    @override
    def argmin(self, axis: int, /) -> Labels[Self]:
        return self._timed_labels("argmin", lambda: self.value.argmin(axis))

    @override
    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        return self._timed_labels("argsort", lambda: self.value.argsort(axis, descending=descending))

    @override
    def sort(self, axis: int, /, *, descending: bool = False) -> Self:
        return self.timed("sort", lambda: self.value.sort(axis, descending=descending))

    @override
    def take(self, labels: Labels[Self], axis: int, /) -> Self:
        held = self._held(labels, "take")
        return self.timed("take", lambda: self.value.take(Labels(held), axis), held)

    @override
    def topk(self, k: int, axis: int, /) -> tuple[Self, Labels[Self]]:
        values, labels = self._read("topk", lambda: self.value.topk(k, axis))
        return type(self)(values, self.profile), Labels(type(self)(labels.carrier, self.profile))
