"""`BlasProfiled[T]`: the trait `BlasTensor`, timed."""

from typing import TYPE_CHECKING, Self, override

from moonxi.profiled.tensor import Profiled
from moonxi.profiled.timed import Timed
from moonxi.profiled.work import multiply_adds, size
from moonxi.traits import DerivedBlas, MlpTensor


class BlasProfiled[T: MlpTensor](Profiled[T], DerivedBlas[Timed[T]]):
    """A timed tensor whose ``T`` has matrix products."""

    __slots__ = ()

    @override
    def matmul(self, other: Self, /) -> Self:
        y = self._tensor(other, "matmul")
        return self.timed("matmul", lambda: self.value.matmul(y), y, flops=self._products)

    @override
    def __matmul__(self, other: Self, /) -> Self:
        y = self._tensor(other, "matmul")
        return self.timed("matmul", lambda: self.value @ y, y, flops=self._products)

    @override
    def transpose(self) -> Self:
        return self.timed("transpose", self.value.transpose)

    def _products(self, result: T) -> int:
        return multiply_adds(size(result.shape), size(self.shape[-1:]))


MlpTensor.register(BlasProfiled)
if TYPE_CHECKING:

    def _conforms[T: MlpTensor](_: type[BlasProfiled[T]]) -> type[MlpTensor]:
        return BlasProfiled[T]
