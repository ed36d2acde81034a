"""Models under test."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from jaxtyping import Float

import moonxi as mx
from moonxi import nn

type Array = mx.NpArray[mx.F64]

CPU = mx.numpy(mx.F64)


def numbers(*shape: int, seed: int = 0) -> Array:
    """Standard normal numbers."""
    return CPU.normal(shape, mx.Key(seed))


def line(inputs: int, outputs: int, seed: int = 0) -> nn.Linear[Array]:
    return nn.Linear.init(inputs, outputs, like=CPU, key=mx.Key(seed))


class Scales[T](NamedTuple):
    """A named tuple of tensors."""

    left: T
    right: T


@dataclass(frozen=True)
class Gate[T: mx.Tensor]:
    """A dataclass that is no module."""

    weight: T
    open: bool = True


@dataclass(frozen=True)
class Everywhere[T: mx.MlpTensor](nn.Module[T]):
    """Tensors in each kind of place, among settings."""

    name: str
    single: T
    listed: list[T]
    pair: tuple[T, nn.Linear[T]]
    scales: Scales[T]
    by_name: dict[str, T]
    by_number: dict[int, list[T]]
    gate: Gate[T]
    nothing: T | None
    mean: mx.State[T]
    activation: Callable[[float], float] = abs
    sizes: tuple[int, ...] = (1, 2)
    options: dict[object, object] = field(default_factory=lambda: {("a", 1): None})

    @staticmethod
    def new() -> "Everywhere[Array]":
        """One with as many elements in each tensor as no other has."""
        sizes = iter(range(2, 20))

        def fresh() -> Array:
            return numbers(next(sizes))

        return Everywhere(
            name="every place",
            single=fresh(),
            listed=[fresh(), fresh()],
            pair=(fresh(), line(1, 2)),
            scales=Scales(fresh(), fresh()),
            by_name={"b": fresh(), "a": fresh()},
            by_number={3: [fresh()]},
            gate=Gate(fresh()),
            nothing=None,
            mean=mx.State(fresh()),
        )


@dataclass(frozen=True)
class Pair[T: mx.Tensor](nn.Module[T]):
    """Two parameters, which may be one."""

    first: T
    second: T


@dataclass(frozen=True)
class Mlp[T: mx.MlpTensor](nn.Module[T]):
    """Two layers."""

    hidden: nn.Linear[T]
    out: nn.Linear[T]

    def forward(self, x: Float[T, "batch {self.hidden.inputs}"], mode: nn.Mode) -> Float[T, "batch {self.out.outputs}"]:
        """``tanh`` between the layers."""
        return self.out.forward(self.hidden.forward(x).tanh())


@dataclass(frozen=True)
class Holder[T: mx.Tensor](nn.Module[T]):
    """A model with anything in it."""

    weight: T
    held: object
