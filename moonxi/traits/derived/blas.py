"""The rest of the trait `BlasTensor`."""

from abc import abstractmethod
from typing import Self

from moonxi import shapes
from moonxi.traits.derived.tensor import DerivedTensor


class DerivedBlas[I](DerivedTensor[I]):
    """The rest of the trait `BlasTensor` as well, for the interpreter ``I``."""

    __slots__ = ()

    @abstractmethod
    def matmul(self, other: Self, /) -> Self: ...

    def __matmul__(self, other: Self, /) -> Self:
        return self.matmul(other)

    def transpose(self) -> Self:
        return self.permute(shapes.transpose(self.shape))
