"""What ``backward()`` returns: for each tensor its gradient, in one of three states."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from moonxi import shapes
from moonxi.errors import GradientError
from moonxi.traits import Tensor

if TYPE_CHECKING:
    from moonxi.autodiff.node import Node


@final
@dataclass(frozen=True, slots=True)
class Untracked:
    """The tensor takes no part in differentiation: it is a constant."""


@final
@dataclass(frozen=True, slots=True)
class Zero:
    """The tensor is a variable, and the result does not depend on it. No zeros are stored."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Value[T]:
    """The gradient."""

    gradient: T


class Gradients[T: Tensor]:
    """The gradients of one result with respect to its variables, and to the tensors named in ``keep``."""

    __slots__ = ("_found", "_kept")

    def __init__(self, found: "Mapping[Node[T], T]", kept: "Container[Node[T]]") -> None:
        self._found = found
        self._kept = kept

    def state(self, tensor: "Node[T]", /) -> Untracked | Zero | Value[T]:
        """One of the three states, to be matched on."""
        gradient = self._found.get(tensor)
        if gradient is not None:
            return Value(gradient)
        if tensor.parents is None:
            return Untracked()
        if tensor.parents and tensor not in self._kept:
            raise GradientError(
                f"gradients: intermediate result {shapes.show(tensor.shape)}: the gradients of intermediate results "
                "are not kept; name the tensor in backward(keep=(tensor,))"
            )
        return Zero()

    def of(self, tensor: "Node[T]", /) -> T:
        """The gradient as a tensor: zeros where the result does not depend on the variable.

        Raises `GradientError` for a constant."""
        gradient = self._found.get(tensor)
        if gradient is not None:
            return gradient
        if isinstance(self.state(tensor), Zero):
            return tensor.value.zeros(tensor.shape)
        raise GradientError(
            f"gradients: constant {shapes.show(tensor.shape)}: a constant has no gradient; make it with variable(x)"
        )
