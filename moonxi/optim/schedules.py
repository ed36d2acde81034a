"""Schedules: the learning rate as a function of the step.

The step is a scalar tensor, 0 at the first update, so that a schedule runs wherever the model is, also inside a
compiled step. A schedule is any function that computes with it; these are the common ones. All of them go on with their
last value after their last step. How long they take is said in `Steps`, so that nobody says it in epochs.
"""

from dataclasses import dataclass
from math import pi
from typing import Final, Protocol

from moonxi.errors import OptionError
from moonxi.optim.steps import Steps
from moonxi.settings import NOT_NEGATIVE, POSITIVE, UNIT, Range, numbers, whole
from moonxi.traits import Tensor

_FACTOR: Final = Range("must be greater than 0 and at most 1", 0.0, 1.0, without_least=True)


class Schedule(Protocol):
    """From the number of updates made so far, a scalar, to the learning rate, a scalar."""

    def __call__[T: Tensor](self, step: T, /) -> T: ...


def _done[T: Tensor](step: T, steps: int) -> T:
    """The part of the steps that is done, from 0 to 1."""
    return (step / float(steps)).minimum(1.0)


@dataclass(frozen=True)
class constant:  # used as a function, compared and printed as a value
    """Always ``lr``."""

    lr: float

    def __post_init__(self) -> None:
        numbers("constant", NOT_NEGATIVE, lr=self.lr)

    def __call__[T: Tensor](self, step: T, /) -> T:
        """``lr``, where the step is."""
        return step.full((), self.lr)


@dataclass(frozen=True)
class step_decay:  # used as a function, compared and printed as a value
    """``lr * factor ** (step // every)``: multiplied by ``factor`` after each ``every`` steps."""

    lr: float
    every: Steps
    factor: float = 0.1

    def __post_init__(self) -> None:
        numbers("step_decay", NOT_NEGATIVE, lr=self.lr, factor=self.factor)
        whole("step_decay", 1, every=self.every)

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        # Half a step more keeps the quotient of a whole number of periods from falling under it by rounding.
        return self.factor ** ((step + 0.5) / self.every).floor() * self.lr


@dataclass(frozen=True)
class exponential:  # used as a function, compared and printed as a value
    """``lr * factor ** (step / every)``: a little smaller after each step, by ``factor`` after each ``every`` steps."""

    lr: float
    factor: float
    every: Steps

    def __post_init__(self) -> None:
        numbers("exponential", NOT_NEGATIVE, lr=self.lr)
        numbers("exponential", _FACTOR, factor=self.factor)
        whole("exponential", 1, every=self.every)

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        return self.factor ** (step / float(self.every)) * self.lr


@dataclass(frozen=True)
class polynomial:  # used as a function, compared and printed as a value
    """From ``lr`` to ``final`` in ``steps`` steps: ``(lr - final) * (1 - step / steps) ** power + final``.

    The power 1 is a straight line."""

    lr: float
    steps: Steps
    power: float = 1.0
    final: float = 0.0

    def __post_init__(self) -> None:
        numbers("polynomial", NOT_NEGATIVE, lr=self.lr, final=self.final)
        whole("polynomial", 1, steps=self.steps)
        numbers("polynomial", POSITIVE, power=self.power)

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        return (1.0 - _done(step, self.steps)) ** self.power * (self.lr - self.final) + self.final


@dataclass(frozen=True)
class cosine:  # used as a function, compared and printed as a value
    """From ``lr`` to ``final`` in ``steps`` steps, along half a cosine (Loshchilov and Hutter 2017, equation 5)."""

    lr: float
    steps: Steps
    final: float = 0.0

    def __post_init__(self) -> None:
        numbers("cosine", NOT_NEGATIVE, lr=self.lr, final=self.final)
        whole("cosine", 1, steps=self.steps)

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        return _between(self.lr, self.final, _done(step, self.steps))


@dataclass(frozen=True)
class warm_up:  # used as a function, compared and printed as a value
    """From ``start`` to ``lr`` in ``steps`` steps along a straight line.

    What comes after it is said by `join`; `chain` multiplies another schedule by a warm-up to 1."""

    lr: float
    steps: Steps
    start: float = 0.0

    def __post_init__(self) -> None:
        numbers("warm_up", NOT_NEGATIVE, lr=self.lr, start=self.start)
        whole("warm_up", 1, steps=self.steps)

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        return _done(step, self.steps) * (self.lr - self.start) + self.start


@dataclass(frozen=True)
class one_cycle:  # used as a function, compared and printed as a value
    """Up to ``peak`` and down again in ``steps`` steps, both along half a cosine (Smith and Topin 2018; as PyTorch).

    It starts from ``peak / start_divisor``, is at the peak in the last step of the first ``rising`` part of the steps,
    and ends in the step ``steps - 1`` at ``peak / start_divisor / final_divisor``."""

    peak: float
    steps: Steps
    rising: float = 0.3
    start_divisor: float = 25.0
    final_divisor: float = 1e4

    def __post_init__(self) -> None:
        numbers("one_cycle", NOT_NEGATIVE, peak=self.peak)
        whole("one_cycle", 1, steps=self.steps)
        numbers("one_cycle", POSITIVE, start_divisor=self.start_divisor, final_divisor=self.final_divisor)
        numbers("one_cycle", UNIT, rising=self.rising)
        if not (0.0 < self.rising < 1.0 and self.rising * self.steps > 1.0):
            raise OptionError(
                f"one_cycle: rising={self.rising}, steps={self.steps}: the rising part must be more than one step and "
                "less than all"
            )

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        top = self.rising * self.steps - 1.0
        start = self.peak / self.start_divisor
        up = _between(start, self.peak, (step / top).minimum(1.0))
        down = _between(self.peak, start / self.final_divisor, ((step - top) / (self.steps - 1.0 - top)).clip(0.0, 1.0))
        return up.where(step < top, down)


def _between[T: Tensor](first: float, last: float, done: T) -> T:
    """From the first to the last along half a cosine."""
    return ((done * pi).cos() + 1.0) * ((first - last) / 2.0) + last
