"""`BlasGrad[T]`: the trait `BlasTensor` under differentiation."""

from typing import TYPE_CHECKING, Self, override

from moonxi.autodiff import levels
from moonxi.autodiff.node import Node
from moonxi.autodiff.pullback import Vjp
from moonxi.autodiff.tensor import Grad
from moonxi.traits import DerivedBlas, MlpTensor


class BlasGrad[T: MlpTensor](Grad[T], DerivedBlas[Node[T]], MlpTensor):
    """A tensor under differentiation whose ``T`` has matrix products."""

    __slots__ = ()

    @override
    def matmul(self, other: Self, /) -> Self:
        if not isinstance(other, BlasGrad):
            raise levels.differ("matmul", self, other)
        x, y = self.value, other.value
        product = x.matmul(y)
        parents: tuple[tuple[Grad[T], Vjp[T]], ...] = ()
        if self.parents is not None:
            parents = ((self, lambda g: g.matmul(y.transpose()).sum_to(x.shape)),)
        if other.parents is not None:
            parents = (*parents, (other, lambda g: x.transpose().matmul(g).sum_to(y.shape)))
        return type(self)(product, parents or None)


MlpTensor.register(BlasGrad)
if TYPE_CHECKING:

    def _conforms[T: MlpTensor](_: type[BlasGrad[T]]) -> type[MlpTensor]:
        return BlasGrad[T]
