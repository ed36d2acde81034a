"""What a training run was like, epoch by epoch."""

from dataclasses import dataclass, field


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


class Average:
    """Averages of named numbers, weighted by the number of samples."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self.samples = 0

    def add(self, values: dict[str, float], samples: int) -> None:
        """Count a batch in."""
        self.samples += samples
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * samples

    def values(self) -> dict[str, float]:
        """The averages so far."""
        return {name: total / self.samples for name, total in self._sums.items()} if self.samples else {}
