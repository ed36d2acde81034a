"""What a training run was like, epoch by epoch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import override


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One epoch. The averages are over samples, exact also where the last batch is smaller."""

    epoch: int
    """Counted from 0."""
    steps: int
    """Updates made since the run began."""
    train: dict[str, float]
    """The loss, and whatever else the loss function gives by name, averaged while training."""
    test: dict[str, float]
    """The same on the test data after the epoch; empty without test data."""
    seconds: float
    """Time for the training steps, without the test."""
    samples: int
    """Samples trained on."""

    @property
    def samples_per_second(self) -> float:
        """Samples trained on in a second."""
        return self.samples / self.seconds if self.seconds else float("inf")


@dataclass(slots=True)
class History:
    """The epochs of a run, and whether it was interrupted from the keyboard."""

    epochs: list[EpochRecord] = field(default_factory=list)
    interrupted: bool = False
    stopped: str | None = None
    """Why a callback ended the run early; None if none did."""

    @override
    def __repr__(self) -> str:
        last = f", the last: {self.epochs[-1]}" if self.epochs else ""
        why = ", interrupted" if self.interrupted else "" if self.stopped is None else f", stopped: {self.stopped}"
        return f"History({len(self.epochs)} epochs{last}{why})"


class Average:
    """Averages of named numbers, weighted by the number of samples."""

    def __init__(self, sums: Mapping[str, float] | None = None, samples: int = 0) -> None:
        self._sums = dict(sums or {})
        self.samples = samples

    @property
    def sums(self) -> dict[str, float]:
        """A copy of the sums, each value times its samples."""
        return dict(self._sums)

    def add(self, values: dict[str, float], samples: int) -> None:
        """Count a batch in."""
        self.samples += samples
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * samples

    def values(self) -> dict[str, float]:
        """The averages so far."""
        return {name: total / self.samples for name, total in self._sums.items()} if self.samples else {}
