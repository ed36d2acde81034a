"""The trait `Tensor`, its shape and order, under differentiation."""

from functools import partial
from typing import Self, override

from moonxi import shapes
from moonxi.autodiff import levels
from moonxi.autodiff.node import Node
from moonxi.autodiff.pullback import Vjp
from moonxi.autodiff.reducing import GradReducing
from moonxi.traits import Index, Shape, Tensor


class GradShaping[T: Tensor](GradReducing[T]):
    """Moving, joining and cutting."""

    __slots__ = ()

    @override
    def reshape(self, shape: Shape, /) -> Self:
        before = self.shape
        return self._unary(self.value.reshape(shape), lambda g: g.reshape(before))

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        order = shapes.axes(self.shape, axes, "permute")
        back = tuple(sorted(range(len(order)), key=order.__getitem__))
        return self._unary(self.value.permute(axes), lambda g: g.permute(back))

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        before = self.shape
        return self._unary(self.value.broadcast_to(shape), lambda g: g.sum_to(before))

    @override
    def __getitem__(self, index: Index, /) -> Self:
        shape = self.shape
        return self._unary(self.value[index], lambda g: g.put_slice(index, shape))

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        return self._unary(self.value.put_slice(index, shape), lambda g: g[index])

    @override
    def concatenate(self, *others: Self, axis: int) -> Self:
        parts: tuple[Node[T], ...] = (self, *others)
        for part in parts:
            if not isinstance(part, Node):
                raise levels.differ("concatenate", self, part)
        value = self.value.concatenate(*(other.value for other in others), axis=axis)
        before = (slice(None),) * shapes.axis(self.shape, axis, "concatenate")
        parents: list[tuple[Node[T], Vjp[T]]] = []
        start = 0
        for part in parts:
            end = start + part.shape[axis]
            if part.parents is not None:
                parents.append((part, partial(_cut, (*before, slice(start, end)))))
            start = end
        return type(self)(value, tuple(parents) or None)


def _cut[T: Tensor](index: Index, gradient: T) -> T:
    return gradient[index]
