"""Axes joined into one."""

from dataclasses import dataclass
from math import prod

from moonxi.nn.layer import Layer
from moonxi.nn.mode import Mode
from moonxi.shapes import axis
from moonxi.traits import Tensor


@dataclass(frozen=True)
class Flatten(Layer):
    """All axes from ``first`` on become one, by default all but the batch's."""

    first: int = 1

    def forward[T: Tensor](self, x: T, mode: Mode | None = None, /) -> T:
        """``(batch, a, b) -> (batch, a*b)``; ``mode`` makes no difference."""
        first = axis(x.shape, self.first, "flatten")
        return x.reshape((*x.shape[:first], prod(x.shape[first:])))
