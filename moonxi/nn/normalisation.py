"""Layers that normalise the channels of images."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi import settings
from moonxi.dims import provably_different
from moonxi.errors import OptionError
from moonxi.nn.mode import Eval, Mode, Train
from moonxi.nn.module import Module
from moonxi.nn.state import State
from moonxi.traits import ImageModelTensor


@dataclass(frozen=True)
class BatchNorm2d[T: ImageModelTensor](Module[T]):
    """Each channel with mean 0 and variance 1, then scaled and shifted (Ioffe and Szegedy 2015).

    In training by the statistics of the batch, which also move the running ones: ``r = (1 - momentum) * r + momentum *
    new``, with the unbiased variance, as PyTorch. In evaluation by the running ones."""

    weight: Float[T, " channels"]
    bias: Float[T, " channels"]
    mean: State[T]
    variance: State[T]
    momentum: float = 0.1
    eps: float = 1e-5

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "BatchNorm2d[U]": ...

    def __post_init__(self) -> None:
        settings.numbers("BatchNorm2d", settings.UNIT, momentum=self.momentum)
        settings.numbers("BatchNorm2d", settings.NOT_NEGATIVE, eps=self.eps)
        super().__post_init__()

    @classmethod
    def init(cls, channels: int, /, *, like: T, momentum: float = 0.1, eps: float = 1e-5) -> "BatchNorm2d[T]":
        """Weight 1, bias 0, mean 0 and variance 1, where ``like`` lives."""
        shape = (channels,)
        mean, variance = State(like.zeros(shape)), State(like.ones(shape))
        return cls(like.ones(shape), like.zeros(shape), mean, variance, momentum, eps)

    @property
    def channels(self) -> int:
        """The number of channels."""
        return self.weight.shape[0]

    def forward(
        self, x: Float[T, "batch {self.channels} height width"], mode: Mode, /
    ) -> Float[T, "batch {self.channels} height width"]:
        """The mode must be given. Raises `ShapeError` in training if there is only one value a channel.

        ``(x: Float[T, "batch {self.channels} height width"]) -> Float[T, "batch {self.channels} height width"]``"""
        match mode:
            case Train():
                y, mean, variance = x.batch_norm(self.weight, self.bias, eps=self.eps)
                values = prod(x.shape) // self.channels
                unbiased = variance * (float(values) / float(values - 1))
                mode.move(self.mean, mean, self.momentum)
                mode.move(self.variance, unbiased, self.momentum)
                return y
            case Eval():
                return x.batch_norm_with(self.mean.value, self.variance.value, self.weight, self.bias, eps=self.eps)


@dataclass(frozen=True)
class GroupNorm[T: ImageModelTensor](Module[T]):
    """Each group of channels of each sample with mean 0 and variance 1, then scaled and shifted (Wu and He 2018)."""

    weight: Float[T, " channels"]
    bias: Float[T, " channels"]
    groups: int
    eps: float = 1e-5

    if TYPE_CHECKING:

        def map[U: ImageModelTensor](self, f: Callable[[T], U], /) -> "GroupNorm[U]": ...

    def __post_init__(self) -> None:
        settings.whole("GroupNorm", 1, groups=self.groups)
        settings.numbers("GroupNorm", settings.NOT_NEGATIVE, eps=self.eps)
        super().__post_init__()

    @classmethod
    def init(cls, groups: int, channels: int, /, *, like: T, eps: float = 1e-5) -> "GroupNorm[T]":
        """Weight 1 and bias 0 where ``like`` lives."""
        settings.whole("GroupNorm", 1, groups=groups)
        if provably_different(channels % groups, 0):
            raise OptionError(f"GroupNorm: {channels} channels, groups={groups}: groups must divide the channels")
        return cls(like.ones((channels,)), like.zeros((channels,)), groups, eps)

    @property
    def channels(self) -> int:
        """The number of channels."""
        return self.weight.shape[0]

    def forward(
        self, x: Float[T, "batch {self.channels} *space"], mode: Mode | None = None, /
    ) -> Float[T, "batch {self.channels} *space"]:
        """Sample by sample; ``mode`` makes no difference here and may be left out.

        ``(x: Float[T, "batch {self.channels} *space"]) -> Float[T, "batch {self.channels} *space"]``"""
        return x.group_norm(self.groups, self.weight, self.bias, eps=self.eps)
