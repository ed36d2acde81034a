"""Layers one after another."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.traits import Tensor


class Step[T](Protocol):
    """Anything that turns a tensor into another: each layer of moonxi, and yours."""

    def forward(self, x: T, mode: Mode, /) -> T: ...


@dataclass(frozen=True, init=False)
class Sequential[T: Tensor](Module[T]):
    """``Sequential(a, b, c)``: the result of each layer goes into the next."""

    layers: tuple[Step[T], ...]

    def __init__(self, *layers: Step[T]) -> None:
        object.__setattr__(self, "layers", layers)
        self.__post_init__()

    if TYPE_CHECKING:

        def map[U: Tensor](self, f: Callable[[T], U], /) -> "Sequential[U]": ...

    def forward(self, x: T, mode: Mode, /) -> T:
        """Through all the layers, in order."""
        for layer in self.layers:
            x = layer.forward(x, mode)
        return x
