"""Schedules made of schedules."""

from dataclasses import dataclass

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.optim.schedules import Schedule
from moonxi.optim.steps import Steps
from moonxi.traits import Tensor


@dataclass(frozen=True)
class join:  # used as a function, compared and printed as a value
    """One schedule after another: the second begins at the step ``at[0]``, with its own step 0, and so on.

    ``join((warm_up(0.1, Steps(500)), cosine(0.1, Steps(9_500))), at=(Steps(500),))``."""

    schedules: tuple[Schedule, ...]
    at: tuple[Steps, ...]

    def __post_init__(self) -> None:
        if len(self.schedules) != len(self.at) + 1:
            raise OptionError(
                f"join: {len(self.schedules)} schedules, at={self.at}: there must be one step for each schedule but "
                "the first"
            )
        for at in self.at:
            settings.whole("join", 1, at=at)
        if any(later <= earlier for earlier, later in zip((0, *self.at), self.at, strict=False)):
            raise OptionError(f"join: at={self.at}: the steps must be positive and rise")

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        value = self.schedules[0](step)
        for schedule, at in zip(self.schedules[1:], self.at, strict=True):
            value = schedule((step - float(at)).maximum(0.0)).where(step >= float(at), value)
        return value


@dataclass(frozen=True, init=False)
class chain:  # used as a function, compared and printed as a value
    """The product of schedules, all of which begin at once.

    ``chain(warm_up(1.0, Steps(500)), cosine(0.1, Steps(10_000)))``."""

    schedules: tuple[Schedule, ...]

    def __init__(self, *schedules: Schedule) -> None:
        if not schedules:
            raise OptionError("chain: no schedules: give at least one")
        object.__setattr__(self, "schedules", schedules)

    def __call__[T: Tensor](self, step: T, /) -> T:
        """The learning rate after ``step`` updates."""
        value = self.schedules[0](step)
        for schedule in self.schedules[1:]:
            value = value * schedule(step)
        return value
