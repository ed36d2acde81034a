"""The fully connected layer."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi.key import Key
from moonxi.nn.initializers import Initializer, kaiming_uniform
from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.traits import MlpTensor


@dataclass(frozen=True)
class Linear[T: MlpTensor](Module[T]):
    """``x @ weight + bias`` along the last axis. The weight is ``(inputs, outputs)``: PyTorch's transposed."""

    weight: Float[T, "inputs outputs"]
    bias: Float[T, " outputs"] | None

    if TYPE_CHECKING:

        def map[U: MlpTensor](self, f: Callable[[T], U], /) -> "Linear[U]": ...

    @classmethod
    def init(
        cls,
        inputs: int,
        outputs: int,
        /,
        *,
        like: T,
        key: Key,
        weight: Initializer = kaiming_uniform,
        bias: bool = True,
    ) -> "Linear[T]":
        """A new layer where ``like`` lives, with a bias of zeros if it has one."""
        return cls(weight(like, (inputs, outputs), key), like.zeros((outputs,)) if bias else None)

    @property
    def inputs(self) -> int:
        """The size of the last axis that it takes."""
        return self.weight.shape[0]

    @property
    def outputs(self) -> int:
        """The size of the last axis that it gives."""
        return self.weight.shape[1]

    def forward(
        self, x: Float[T, "*batch {self.inputs}"], mode: Mode | None = None, /
    ) -> Float[T, "*batch {self.outputs}"]:
        """The product; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "*batch {self.inputs}"]) -> Float[T, "*batch {self.outputs}"]``"""
        if len(x.shape) == 2:
            y = x @ self.weight
        else:  # one product of matrices, also for the gradient of the weight
            rows = x.reshape((prod(x.shape[:-1]), self.inputs))
            y = (rows @ self.weight).reshape((*x.shape[:-1], self.outputs))
        return y if self.bias is None else y + self.bias
