"""Scores of yes or no, told apart by type. They are invariant in ``T`` as those of classes are."""

from collections.abc import Callable
from dataclasses import dataclass

from moonxi.dtypes import DType
from moonxi.losses.arguments import expect_tensor
from moonxi.traits import Mask, Shape, Tensor


@dataclass(frozen=True, slots=True, eq=False)
class BinaryProbs[T: Tensor]:
    """Probabilities of yes, each for itself."""

    value: T

    def __post_init__(self) -> None:
        expect_tensor("BinaryProbs", self.value)

    def _like(self, value: T, /) -> "BinaryProbs[T]":
        return BinaryProbs(value)

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "BinaryProbs[U]":
        """The same in another interpreter."""
        return BinaryProbs(f(self.value))

    @property
    def shape(self) -> Shape:
        """Any shape: each element is a question of its own."""
        return self.value.shape

    @property
    def dtype(self) -> type[DType]:
        """The element type, so that ``Float[BinaryProbs[T], "batch"]`` states the shape."""
        return self.value.dtype


@dataclass(frozen=True, slots=True, eq=False)
class BinaryLogits[T: Tensor]:
    """Scores before the sigmoid: the logarithms of the odds of yes, each for itself."""

    value: T

    def __post_init__(self) -> None:
        expect_tensor("BinaryLogits", self.value)

    def _like(self, value: T, /) -> "BinaryLogits[T]":
        return BinaryLogits(value)

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "BinaryLogits[U]":
        """The same in another interpreter."""
        return BinaryLogits(f(self.value))

    @property
    def shape(self) -> Shape:
        """Any shape: each element is a question of its own."""
        return self.value.shape

    @property
    def dtype(self) -> type[DType]:
        """The element type, so that ``Float[BinaryLogits[T], "batch"]`` states the shape."""
        return self.value.dtype

    def probs(self) -> BinaryProbs[T]:
        """The sigmoid of each."""
        return BinaryProbs(self.value.sigmoid())

    def predicted(self) -> Mask[T]:
        """Where yes is likelier than no."""
        return self.value > 0.0
