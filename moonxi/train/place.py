"""`Place`: how far a run is, between two steps."""

from dataclasses import dataclass, field

from moonxi.train.history import EpochRecord


@dataclass(frozen=True, slots=True)
class Place:
    """The next batch, and what was counted before it."""

    epoch: int = 0
    """The epoch that goes on, from 0."""
    batch: int = 0
    """The next batch in it, from 0."""
    steps: int = 0
    """Updates made since the run began."""
    sums: dict[str, float] = field(default_factory=dict)
    """The loss and the named values of the epoch so far, times samples."""
    samples: int = 0
    """Samples of the epoch so far."""
    seconds: float = 0.0
    """Time of the epoch's steps so far."""
    records: tuple[EpochRecord, ...] = ()
    """The epochs before, from the beginning of the run."""
