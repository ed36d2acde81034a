"""Layers that normalise the features of each sample, which are its last axis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi import settings
from moonxi.nn.mode import Mode
from moonxi.nn.module import Module
from moonxi.traits import Tensor


@dataclass(frozen=True)
class LayerNorm[T: Tensor](Module[T]):
    """The features with mean 0 and variance 1, then scaled and shifted (Ba et al. 2016).

    ``(x - mean) / sqrt(variance + eps) * weight + bias``, the variance being that of the features, not an estimate."""

    weight: Float[T, " features"]
    bias: Float[T, " features"] | None
    eps: float = 1e-5

    if TYPE_CHECKING:

        def map[U: Tensor](self, f: Callable[[T], U], /) -> "LayerNorm[U]": ...

    def __post_init__(self) -> None:
        settings.numbers("LayerNorm", settings.NOT_NEGATIVE, eps=self.eps)
        super().__post_init__()

    @classmethod
    def init(cls, features: int, /, *, like: T, eps: float = 1e-5, bias: bool = True) -> "LayerNorm[T]":
        """Weight 1 and bias 0, if it has one, where ``like`` lives."""
        return cls(like.ones((features,)), like.zeros((features,)) if bias else None, eps)

    @property
    def features(self) -> int:
        """The size of the last axis."""
        return self.weight.shape[0]

    def forward(
        self, x: Float[T, "*batch {self.features}"], mode: Mode | None = None, /
    ) -> Float[T, "*batch {self.features}"]:
        """Sample by sample; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "*batch {self.features}"]) -> Float[T, "*batch {self.features}"]``"""
        centred = x - x.mean(-1, keepdims=True)
        variance = centred.square().mean(-1, keepdims=True)
        y = centred / (variance + self.eps).sqrt() * self.weight
        return y if self.bias is None else y + self.bias


@dataclass(frozen=True)
class RMSNorm[T: Tensor](Module[T]):
    """The features over their root mean square, then scaled (Zhang and Sennrich 2019).

    ``x / sqrt(mean(x**2) + eps) * weight``. The default of ``eps`` is the spacing of float32 at 1, which PyTorch takes
    for that element type."""

    weight: Float[T, " features"]
    eps: float = 2.0**-23

    if TYPE_CHECKING:

        def map[U: Tensor](self, f: Callable[[T], U], /) -> "RMSNorm[U]": ...

    def __post_init__(self) -> None:
        settings.numbers("RMSNorm", settings.NOT_NEGATIVE, eps=self.eps)
        super().__post_init__()

    @classmethod
    def init(cls, features: int, /, *, like: T, eps: float = 2.0**-23) -> "RMSNorm[T]":
        """Weight 1 where ``like`` lives."""
        return cls(like.ones((features,)), eps)

    @property
    def features(self) -> int:
        """The size of the last axis."""
        return self.weight.shape[0]

    def forward(
        self, x: Float[T, "*batch {self.features}"], mode: Mode | None = None, /
    ) -> Float[T, "*batch {self.features}"]:
        """Sample by sample; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "*batch {self.features}"]) -> Float[T, "*batch {self.features}"]``"""
        return x / (x.square().mean(-1, keepdims=True) + self.eps).sqrt() * self.weight
