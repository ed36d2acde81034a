"""Scores of classes, told apart by type: logits, log-probabilities and probabilities.

The last axis is that of the classes. The classes are invariant in ``T``, so that a checker refuses the logits of one
backend beside the labels of another without any help.
"""

from collections.abc import Callable
from dataclasses import dataclass

from moonxi.dtypes import DType
from moonxi.losses.arguments import expect_tensor
from moonxi.traits import Labels, Shape, Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Probs[T: Tensor]:
    """Probabilities: not negative, and 1 in sum over the last axis."""

    value: T

    def __post_init__(self) -> None:
        expect_tensor("Probs", self.value)

    def _like(self, value: T, /) -> "Probs[T]":
        return Probs(value)

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Probs[U]":
        """The same in another interpreter."""
        return Probs(f(self.value))

    @property
    def shape(self) -> Shape:
        """``(..., classes)``."""
        return self.value.shape

    @property
    def dtype(self) -> type[DType]:
        """The element type, so that ``Float[Probs[T], "batch classes"]`` states the shape."""
        return self.value.dtype


@dataclass(frozen=True, slots=True, eq=False)
class LogProbs[T: Tensor]:
    """Logarithms of probabilities."""

    value: T

    def __post_init__(self) -> None:
        expect_tensor("LogProbs", self.value)

    def _like(self, value: T, /) -> "LogProbs[T]":
        return LogProbs(value)

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "LogProbs[U]":
        """The same in another interpreter."""
        return LogProbs(f(self.value))

    @property
    def shape(self) -> Shape:
        """``(..., classes)``."""
        return self.value.shape

    @property
    def dtype(self) -> type[DType]:
        """The element type, so that ``Float[LogProbs[T], "batch classes"]`` states the shape."""
        return self.value.dtype

    def probs(self) -> Probs[T]:
        """The probabilities."""
        return Probs(self.value.exp())


@dataclass(frozen=True, slots=True, eq=False)
class Logits[T: Tensor]:
    """Scores before the softmax: what a classifier's last layer gives."""

    value: T

    def __post_init__(self) -> None:
        expect_tensor("Logits", self.value)

    def _like(self, value: T, /) -> "Logits[T]":
        return Logits(value)

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Logits[U]":
        """The same in another interpreter."""
        return Logits(f(self.value))

    @property
    def shape(self) -> Shape:
        """``(..., classes)``."""
        return self.value.shape

    @property
    def dtype(self) -> type[DType]:
        """The element type, so that ``Float[Logits[T], "batch classes"]`` states the shape."""
        return self.value.dtype

    def probs(self) -> Probs[T]:
        """The softmax over the classes."""
        return Probs(self.value.softmax(-1))

    def log_probs(self) -> LogProbs[T]:
        """The logarithm of the softmax over the classes."""
        return LogProbs(self.value.log_softmax(-1))

    def predicted(self) -> Labels[T]:
        """The class with the largest score."""
        return self.value.argmax(-1)
