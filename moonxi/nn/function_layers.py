"""Layers that are no more than a function: of nothing, or of yours."""

from dataclasses import dataclass
from typing import Protocol

from jaxtyping import Float

from moonxi.nn.layer import Layer
from moonxi.nn.mode import Mode
from moonxi.traits import Tensor


class Function(Protocol):
    """A function of tensors of any class: under differentiation it gets those."""

    def __call__[T: Tensor](self, x: T, /) -> T: ...


@dataclass(frozen=True)
class Identity(Layer):
    """What comes in goes out: the place of a layer that is left out."""

    def forward[T: Tensor](self, x: Float[T, "*axes"], mode: Mode | None = None, /) -> Float[T, "*axes"]:
        """``x`` itself; ``mode`` makes no difference.

        ``(x: Float[T, "*axes"]) -> Float[T, "*axes"]``"""
        return x


@dataclass(frozen=True)
class Lambda(Layer):
    """A function as a layer, ``Lambda(nn.silu)``. It must take any class of tensors and may not hold any of its own."""

    function: Function

    def forward[T: Tensor](self, x: T, mode: Mode | None = None, /) -> T:
        """The function's result; ``mode`` makes no difference."""
        return self.function(x)
