"""Batch norms together with what is computed element by element of their results, or before their gradients.

A tensor class that can computes them in one go, without going through memory in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from moonxi.formulas import Formula


@dataclass(frozen=True, slots=True)
class Norms:
    """Batch norms of tensors of one shape, and a formula whose first operands are their results."""

    eps: tuple[float, ...]
    """Of each norm."""
    formula: Formula
    """It has no sums."""


@dataclass(frozen=True, slots=True)
class NormGradients:
    """A formula over the elements of tensors of one shape, and gradients of batch norms of such tensors."""

    eps: tuple[float, ...]
    """Of each norm."""
    formula: Formula
    """It has no sums."""
    gradient: int
    """The value of the formula that is the gradient of the result of every norm."""


@runtime_checkable
class WithNorms(Protocol):
    """A tensor class that computes such groups. Nothing is checked."""

    def normalised(self, norms: Norms, operands: Sequence[Self], /) -> tuple[Self, ...]:
        """The results of the formula, and then mean and variance of each norm.

        Operands are tensor, weight and bias of each norm, and then the other operands of the formula."""
        ...

    def normalised_gradients(self, norms: NormGradients, operands: Sequence[Self], /) -> tuple[Self, ...]:
        """The results of the formula, and then the gradients of tensor, weight and bias of each norm.

        Operands are those of the formula, and then tensor, weight, mean and variance of each norm."""
        ...
