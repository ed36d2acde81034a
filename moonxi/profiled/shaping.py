"""The trait `Tensor`, its shape and order, timed."""

from typing import Self, override

from moonxi.profiled.reducing import ProfiledReducing
from moonxi.traits import Index, Shape, Tensor, Widths


class ProfiledShaping[T: Tensor](ProfiledReducing[T]):
    """Moving, joining and cutting."""

    __slots__ = ()

    @override
    def reshape(self, shape: Shape, /) -> Self:
        return self.timed("reshape", lambda: self.value.reshape(shape))

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        return self.timed("permute", lambda: self.value.permute(axes))

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        return self.timed("broadcast_to", lambda: self.value.broadcast_to(shape))

    @override
    def sum_to(self, shape: Shape, /) -> Self:
        return self.timed("sum_to", lambda: self.value.sum_to(shape))

    @override
    def __getitem__(self, index: Index, /) -> Self:
        return self.timed("index", lambda: self.value[index])

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        return self.timed("put_slice", lambda: self.value.put_slice(index, shape))

    @override
    def squeeze(self, axes: int | tuple[int, ...], /) -> Self:
        return self.timed("squeeze", lambda: self.value.squeeze(axes))

    @override
    def unsqueeze(self, axes: int | tuple[int, ...], /) -> Self:
        return self.timed("unsqueeze", lambda: self.value.unsqueeze(axes))

    @override
    def flip(self, axes: int | tuple[int, ...], /) -> Self:
        return self.timed("flip", lambda: self.value.flip(axes))

    @override
    def roll(self, shift: int, axis: int, /) -> Self:
        return self.timed("roll", lambda: self.value.roll(shift, axis))

    @override
    def pad(self, widths: Widths, value: float = 0.0, /) -> Self:
        return self.timed("pad", lambda: self.value.pad(widths, value))

    @override
    def tile(self, repeats: tuple[int, ...], /) -> Self:
        return self.timed("tile", lambda: self.value.tile(repeats))

    @override
    def concatenate(self, *others: Self, axis: int) -> Self:
        plain = [self._tensor(other, "concatenate") for other in others]
        return self.timed("concatenate", lambda: self.value.concatenate(*plain, axis=axis), *plain)

    @override
    def stack(self, *others: Self, axis: int) -> Self:
        plain = [self._tensor(other, "stack") for other in others]
        return self.timed("stack", lambda: self.value.stack(*plain, axis=axis), *plain)

    @override
    def split(self, sizes: tuple[int, ...], /, *, axis: int) -> tuple[Self, ...]:
        parts = self._read("split", lambda: self.value.split(sizes, axis=axis))
        return tuple(type(self)(part, self.profile) for part in parts)
