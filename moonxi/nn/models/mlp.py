"""The multi-layer perceptron."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi.errors import OptionError
from moonxi.key import Key
from moonxi.losses import Logits
from moonxi.nn.initializers import Initializer, kaiming_uniform
from moonxi.nn.linear import Linear
from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.traits import MlpTensor


@dataclass(frozen=True)
class Mlp[T: MlpTensor](Module[T]):
    """Linear layers with ReLU between them."""

    layers: tuple[Linear[T], ...]

    if TYPE_CHECKING:

        def map[U: MlpTensor](self, f: Callable[[T], U], /) -> "Mlp[U]": ...

    @classmethod
    def init(cls, *sizes: int, like: T, key: Key, weight: Initializer = kaiming_uniform) -> "Mlp[T]":
        """``Mlp.init(784, 128, 10, ...)``: the width of the input, of each hidden layer and of the result."""
        if len(sizes) < 2:
            raise OptionError(f"Mlp: sizes {sizes}: needs at least the width of the input and that of the result")
        keys = key.split(len(sizes) - 1)
        layers = zip(pairwise(sizes), keys, strict=True)
        return cls(tuple(Linear.init(i, o, like=like, key=k, weight=weight) for (i, o), k in layers))

    @property
    def inputs(self) -> int:
        """The size of the last axis that it takes."""
        return self.layers[0].inputs

    @property
    def outputs(self) -> int:
        """The number of classes."""
        return self.layers[-1].outputs

    def forward(self, x: Float[T, "batch {self.inputs}"], mode: Mode | None = None, /) -> Logits[T]:
        """The score of each class; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "batch {self.inputs}"]) -> Logits[T]``"""
        for layer in self.layers[:-1]:
            x = layer.forward(x).relu()
        return Logits(self.layers[-1].forward(x))
