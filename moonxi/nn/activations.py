"""Activation functions as layers; as functions they are methods of the tensor, ``x.relu()``."""

from dataclasses import dataclass

from moonxi.nn.layer import Layer
from moonxi.nn.mode import Mode
from moonxi.traits import Tensor


@dataclass(frozen=True)
class Relu(Layer):
    """The larger of each element and 0."""

    def forward[T: Tensor](self, x: T, mode: Mode | None = None, /) -> T:
        """Element by element; ``mode`` makes no difference."""
        return x.relu()


@dataclass(frozen=True)
class Tanh(Layer):
    """The hyperbolic tangent."""

    def forward[T: Tensor](self, x: T, mode: Mode | None = None, /) -> T:
        """Element by element; ``mode`` makes no difference."""
        return x.tanh()
