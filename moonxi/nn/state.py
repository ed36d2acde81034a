"""`State`: a tensor of a model that is not trained."""

from dataclasses import dataclass

from moonxi.traits import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class State[T: Tensor]:
    """A tensor that belongs to a model and is not trained, such as a running mean."""

    value: T

    def _like(self, value: T, /) -> "State[T]":
        """Makes the class invariant in ``T``."""
        return State(value)
