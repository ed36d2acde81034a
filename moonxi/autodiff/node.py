"""`Node[T]`: a result together with where it came from, and the way back.

Each result holds its value, and for each operand that takes part a function from the result's gradient to the
operand's (its vector-Jacobian product). Those functions use only the trait operations of ``T``, so that every gradient
can be differentiated again by nesting, ``Grad[Grad[T]]``. There is no tape and nothing to reset: the graph is the
results, and goes away with them.
"""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Self, TypeGuard, override

from moonxi import shapes
from moonxi.autodiff import levels
from moonxi.autodiff.gradients import Gradients
from moonxi.autodiff.propagation import propagated
from moonxi.autodiff.pullback import Vjp, summed
from moonxi.dims import Dim
from moonxi.dtypes import DType
from moonxi.errors import GradientError
from moonxi.traits import DerivedTensor, Labels, Mask, Shape, Tensor, expect_held
from moonxi.traits.passes import backward_pass


class Node[T: Tensor](DerivedTensor["Node[T]"]):
    """A tensor ``value`` together with where it came from.

    ``parents`` is None for a constant, empty for a variable, and else holds the operands with their vjps."""

    __slots__ = ("parents", "value")

    def __init__(self, value: T, parents: "tuple[tuple[Node[T], Vjp[T]], ...] | None" = None, /) -> None:
        self.value: T = value
        self.parents = parents

    @classmethod
    def variable(cls, value: T, /) -> Self:
        """A tensor with respect to which to differentiate."""
        return cls(value, ())

    @classmethod
    def constant(cls, value: T, /) -> Self:
        """A tensor that takes no part in differentiation."""
        return cls(value)

    @override
    def __repr__(self) -> str:
        kind = "constant" if self.parents is None else "result" if self.parents else "variable"
        return f"{type(self).__name__}({kind}, {self.value!r})"

    @property
    @override
    def shape(self) -> Shape:
        return self.value.shape

    @property
    @override
    def dtype(self) -> type[DType]:
        return self.value.dtype

    # -- recording -----------------------------------------------------------------------------------------------

    def _unary(self, value: T, vjp: Vjp[T]) -> Self:
        return type(self)(value, None if self.parents is None else ((self, vjp),))

    def _binary(self, other: "Node[T]", value: T, left: Vjp[T], right: Vjp[T]) -> Self:
        """The result of two operands, whose vjps may leave the undoing of broadcasting to this method."""
        parents: tuple[tuple[Node[T], Vjp[T]], ...] = ()
        shape = value.shape
        if self.parents is not None:
            parents = ((self, left if self.value.shape == shape else partial(summed, left, self.value.shape)),)
        if other.parents is not None:
            undone = right if other.value.shape == shape else partial(summed, right, other.value.shape)
            parents = (*parents, (other, undone))
        return type(self)(value, parents or None)

    def _number(self, other: Self | float, operation: str) -> float:
        if isinstance(other, (float, int, Dim)):
            return float(other)
        raise levels.differ(operation, self, other)

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> T:
        """The plain carrier of labels or of a mask at this level."""
        expect_held(operation, held)
        if not isinstance(held.carrier, Node):
            raise levels.held_elsewhere(operation, self, held)
        return held.carrier.value

    # -- differentiation -----------------------------------------------------------------------------------------

    def backward(self, seed: T | None = None, *, keep: "Sequence[Node[T]]" = ()) -> Gradients[T]:
        """The gradients of this result, or of its inner product with ``seed``, with respect to its variables.

        ``seed`` has this shape, and may be left out for a single number. Raises `GradientError` for a constant."""
        if self.parents is None:
            raise GradientError(
                f"backward: {levels.named(self)} {shapes.show(self.shape)}: a constant depends on no variable; make "
                "the parameters with variable(x) and compute the loss from them"
            )
        if seed is None:
            if prod(self.shape) != 1:
                raise GradientError(
                    f"backward: {shapes.show(self.shape)}: a result that is not one number needs a seed of its shape; "
                    "reduce it with .sum() or .mean(), or pass backward(seed)"
                )
            with backward_pass():
                seed = self.value.full(self.shape, 1.0)
        else:
            shapes.equal("backward (result and seed)", self.shape, seed.shape)
        return propagated(self, seed, keep)

    @override
    def stop_gradient(self) -> Self:
        value = self.value.stop_gradient()
        return self if self.parents is None and value is self.value else type(self)(value)


def is_node(value: object, /) -> TypeGuard[Node[Any]]:
    """Whether it is one. An abstract class asked by ``isinstance`` takes several times as long to say no."""
    return type.__instancecheck__(Node, value)
