"""Layers one after another."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from moonxi.errors import ModuleError
from moonxi.nn.findings import described
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
        for number, layer in enumerate(layers):
            if isinstance(layer, type) or not hasattr(layer, "forward"):
                raise ModuleError(f"Sequential: layer {number} is {_no_layer(layer)}")
        object.__setattr__(self, "layers", layers)
        self.__post_init__()

    if TYPE_CHECKING:

        def map[U: Tensor](self, f: Callable[[T], U], /) -> "Sequential[U]": ...

    def forward(self, x: T, mode: Mode, /) -> T:
        """Through all the layers, in order."""
        for layer in self.layers:
            x = layer.forward(x, mode)
        return x


def _no_layer(value: object) -> str:
    """What stands where a layer belongs, and how one comes of it."""
    if isinstance(value, type):
        name = value.__name__
        return f"the class {name}: expected a layer: make one, {name}{'.init' if hasattr(value, 'init') else ''}(...)"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__}: expected a layer: give them one by one, Sequential(*layers)"
    if inspect.isroutine(value):
        return f"the function {value.__name__}: expected a layer: wrap it, Lambda({value.__name__})"
    return f"{described(value)}: expected a layer, which has forward(x, mode)"
