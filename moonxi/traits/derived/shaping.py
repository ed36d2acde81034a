"""The rest of the trait `Tensor`, its shape and order."""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Self

from moonxi import shapes
from moonxi.traits.derived.elementwise import DerivedElementwise
from moonxi.traits.notation import Shape, Widths


class DerivedShaping(DerivedElementwise):
    """Moving and joining by means of slices, and of putting slices into zeros."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Self]:
        """The parts along the first axis; of a single element there are none, which is a `ShapeError`."""
        return map(self.__getitem__, shapes.parts(self.shape))

    def squeeze(self, axes: int | tuple[int, ...], /) -> Self:
        return self.reshape(shapes.squeeze(self.shape, axes))

    def unsqueeze(self, axes: int | tuple[int, ...], /) -> Self:
        return self.reshape(shapes.unsqueeze(self.shape, axes))

    def sum_to(self, shape: Shape, /) -> Self:
        if self.shape == shape:
            return self
        gone = shapes.summed_axes(self.shape, shape)
        if len(gone) == len(self.shape) - len(shape):  # these are all axes in front
            return self.sum(gone)
        return self.sum(gone, keepdims=True).reshape(shape)

    def flip(self, axes: int | tuple[int, ...], /) -> Self:
        turned = shapes.axes(self.shape, axes, "flip")
        return self[tuple(slice(None, None, -1 if axis in turned else 1) for axis in range(len(self.shape)))]

    def roll(self, shift: int, axis: int, /) -> Self:
        axis = shapes.axis(self.shape, axis, "roll")
        size = self.shape[axis]
        if size == 0:
            return self
        front, back = _cut(axis, 0, -shift % size), _cut(axis, -shift % size, size)
        return self[back].concatenate(self[front], axis=axis)

    def pad(self, widths: Widths, value: float = 0.0, /) -> Self:
        whole = shapes.pad(self.shape, widths)
        inside = tuple(slice(before, before + size) for (before, _), size in zip(widths, self.shape, strict=True))
        placed = self.put_slice(inside, whole)
        if value == 0.0:
            return placed
        here = self.full(self.shape, 1.0).put_slice(inside, whole)
        return placed.where(here > 0.0, value)

    def tile(self, repeats: tuple[int, ...], /) -> Self:
        whole = shapes.tile(self.shape, repeats)
        apart, repeated = list[int](), list[int]()
        for size, times in zip(self.shape, repeats, strict=True):
            apart += [1, size]
            repeated += [times, size]
        return self.reshape(tuple(apart)).broadcast_to(tuple(repeated)).reshape(whole)

    def concatenate(self, *others: Self, axis: int) -> Self:
        whole = shapes.concatenate(self.shape, *(one.shape for one in others), axis=axis)
        axis = shapes.axis(self.shape, axis, "concatenate")
        parts = (self, *others)
        ends = accumulate((part.shape[axis] for part in parts), initial=0)
        placed = [
            part.put_slice(_cut(axis, start, end), whole)
            for part, (start, end) in zip(parts, pairwise(ends), strict=True)
        ]
        found = placed[0]
        for part in placed[1:]:
            found = found + part
        return found

    def stack(self, *others: Self, axis: int) -> Self:
        shapes.stack(self.shape, *(one.shape for one in others), axis=axis)
        return self.unsqueeze(axis).concatenate(*(one.unsqueeze(axis) for one in others), axis=axis)

    def split(self, sizes: tuple[int, ...], /, *, axis: int) -> tuple[Self, ...]:
        shapes.split(self.shape, sizes, axis=axis)
        axis = shapes.axis(self.shape, axis, "split")
        return tuple(self[_cut(axis, start, end)] for start, end in pairwise(accumulate(sizes, initial=0)))


def _cut(axis: int, start: int, end: int) -> tuple[slice, ...]:
    """The index of the elements from ``start`` to ``end`` along an axis."""
    return (*(slice(None),) * axis, slice(start, end))
