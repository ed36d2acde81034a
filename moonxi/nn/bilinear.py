"""The layer that is linear in each of two inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi.dims import maximum
from moonxi.key import Key
from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.traits import MlpTensor


@dataclass(frozen=True)
class Bilinear[T: MlpTensor](Module[T]):
    """``x @ weight[k] @ y + bias[k]`` for each output k, along the last axes of ``x`` and ``y``."""

    weight: Float[T, "outputs left right"]
    bias: Float[T, " outputs"] | None

    if TYPE_CHECKING:

        def map[U: MlpTensor](self, f: Callable[[T], U], /) -> "Bilinear[U]": ...

    @classmethod
    def init(cls, left: int, right: int, outputs: int, /, *, like: T, key: Key, bias: bool = True) -> "Bilinear[T]":
        """Weight and bias uniform within +-1 / sqrt(left) where ``like`` lives, as PyTorch's."""
        bound = 1.0 / sqrt(maximum(1, left))
        first, second = key.split(2)
        weight = (like.uniform((outputs, left, right), first) * 2.0 - 1.0) * bound
        return cls(weight, (like.uniform((outputs,), second) * 2.0 - 1.0) * bound if bias else None)

    @property
    def left(self) -> int:
        """The size of the last axis of the first input."""
        return self.weight.shape[1]

    @property
    def right(self) -> int:
        """The size of the last axis of the second input."""
        return self.weight.shape[2]

    @property
    def outputs(self) -> int:
        """The size of the last axis that it gives."""
        return self.weight.shape[0]

    def forward(
        self, x: Float[T, "*batch {self.left}"], y: Float[T, "*batch {self.right}"], mode: Mode | None = None, /
    ) -> Float[T, "*batch {self.outputs}"]:
        """The product; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "*batch {self.left}"], y: Float[T, "*batch {self.right}"]) ->
        Float[T, "*batch {self.outputs}"]``"""
        batch = x.shape[:-1]
        rows = prod(batch)
        sides = self.weight.permute((1, 0, 2)).reshape((self.left, self.outputs * self.right))
        half = (x.reshape((rows, self.left)) @ sides).reshape((rows, self.outputs, self.right))
        z = (half @ y.reshape((rows, self.right, 1))).reshape((*batch, self.outputs))
        return z if self.bias is None else z + self.bias
