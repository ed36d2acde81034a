"""`Position`: a place in the stream of batches, from which it can go on."""

from dataclasses import dataclass

from moonxi.errors import DataError
from moonxi.settings import is_whole


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """The batch of this number in the epoch of this number, both from 0.

    Two integers, to be stored beside a model. Raises `DataError` for a negative one."""

    epoch: int = 0
    batch: int = 0

    def __post_init__(self) -> None:
        if not (is_whole(self.epoch) and is_whole(self.batch)) or self.epoch < 0 or self.batch < 0:
            raise DataError(f"Position: epoch {self.epoch}, batch {self.batch}: both count from 0")
