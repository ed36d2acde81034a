"""Schedules: the learning rate as a function of the step.

The step is a scalar tensor, 0 at the first update, so that a schedule runs wherever the model is, also inside a
compiled step. A schedule is any function that computes with it; these are the common ones.
"""

from dataclasses import dataclass
from typing import Protocol

from moonxi.errors import OptionError
from moonxi.traits import Tensor


class Schedule(Protocol):
    """From the number of updates made so far, a scalar, to the learning rate, a scalar."""

    def __call__[T: Tensor](self, step: T, /) -> T: ...


@dataclass(frozen=True)
class constant:  # used as a function, compared and printed as a value
    """Always ``lr``."""

    lr: float

    def __call__[T: Tensor](self, step: T, /) -> T:
        """``lr``, where the step is."""
        return step.full((), self.lr)


@dataclass(frozen=True)
class step_decay:  # used as a function, compared and printed as a value
    """``lr * factor ** (step // every)``: multiplied by ``factor`` after each ``every`` steps."""

    lr: float
    every: int
    factor: float = 0.1

    def __post_init__(self) -> None:
        if self.every < 1:
            raise OptionError(f"step_decay: every={self.every}: must be at least 1 step")

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        # Half a step more keeps the quotient of a whole number of periods from falling under it by rounding.
        return self.factor ** ((step + 0.5) / self.every).floor() * self.lr
