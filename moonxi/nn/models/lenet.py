"""LeNet-5 (LeCun et al. 1998), with ReLU and max pooling, for images of 28 x 28."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi.key import Key
from moonxi.losses import Logits
from moonxi.nn.convolution import Conv2d
from moonxi.nn.mode import Mode
from moonxi.nn.models.mlp import Mlp
from moonxi.nn.module import Module
from moonxi.traits import ImageModelTensor


@dataclass(frozen=True)
class LeNet[T: ImageModelTensor](Module[T]):
    """Two convolutions of 5 x 5, each with ReLU and max pooling, and three linear layers."""

    first: Conv2d[T]
    second: Conv2d[T]
    head: Mlp[T]

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "LeNet[U]": ...

    @classmethod
    def init(cls, *, like: T, key: Key, channels: int = 1, classes: int = 10) -> "LeNet[T]":
        """A network with random weights where ``like`` lives."""
        first, second, head = key.split(3)
        return cls(
            Conv2d.init(channels, 6, 5, like=like, key=first, padding=2),
            Conv2d.init(6, 16, 5, like=like, key=second),
            Mlp.init(400, 120, 84, classes, like=like, key=head),
        )

    def forward(self, x: Float[T, "batch {self.first.inputs} 28 28"], mode: Mode | None = None, /) -> Logits[T]:
        """The score of each class; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "batch {self.first.inputs} 28 28"]) -> Logits[T]``"""
        h = self.first.forward(x).relu().max_pool2d(2)
        h = self.second.forward(h).relu().max_pool2d(2)
        return self.head.forward(h.reshape((h.shape[0], 400)))
