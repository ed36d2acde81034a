"""`DataLoader`: an epoch of a data set as batches, in an order that seed and epoch fix."""

from collections.abc import Generator, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from moonxi.data.dataset import Dataset, RandomDataset
from moonxi.data.order import Indices, shuffled
from moonxi.data.position import Position
from moonxi.data.prefetch import ordered
from moonxi.errors import DataError
from moonxi.key import Key
from moonxi.optim import Steps
from moonxi.settings import flags, is_whole
from moonxi.uploading import Arriving

_BEGINNING: Final = Position()
_SHOWN: Final = 8  # samples of a batch in the note on an exception


@dataclass(frozen=True, slots=True, eq=False)
class DataLoader[B]:
    """The batches of a data set, of class ``B``.

    With a ``seed`` each epoch has an order of its own, which only seed, epoch and number of samples decide; without
    one the samples come as they are stored. The last batch may be smaller than ``batch_size``; ``drop_last`` leaves
    it out if so. A `RandomDataset` is drawn anew each epoch, with a key that seed and epoch fix, and so needs a seed.
    The loader holds no state: epochs can be repeated, and had in any order, or several at a time.

    With ``workers`` that many threads make batches ahead of the loop, up to ``prefetch`` for each of them; the batches
    are the same, to the bit and in order, for any number. To a GPU they are copied from pinned memory, beside what it
    computes. The data set is then asked for several batches at a time,
    which those of moonxi allow. The threads of an epoch begin with its first batch, and end with its iteration: at the
    end, by an exception, Ctrl-C or an early leave.

    Raises `DataError` if an epoch would have no batch (no samples, or fewer than one batch and ``drop_last``), for
    ``batch_size`` or ``prefetch`` < 1, ``workers`` < 0, for a seed outside 0 to 2**64 - 1, and for a random data set
    without a seed."""

    dataset: Dataset[B] | RandomDataset[B]
    _: KW_ONLY
    batch_size: int
    seed: int | None = None
    drop_last: bool = False
    workers: int = 0
    prefetch: int = 2

    def __post_init__(self) -> None:
        if not is_whole(self.batch_size) or self.batch_size < 1:
            raise DataError(f"DataLoader: batch_size {self.batch_size!r}: a batch has a whole number of samples from 1")
        if not is_whole(self.workers) or self.workers < 0:
            raise DataError(f"DataLoader: workers {self.workers!r}: 0 threads or more make batches ahead")
        if not is_whole(self.prefetch) or self.prefetch < 1:
            raise DataError(f"DataLoader: prefetch {self.prefetch!r}: a worker is at least 1 batch ahead; see workers")
        if self.seed is not None and not (is_whole(self.seed) and 0 <= self.seed < 2**64):
            raise DataError(f"DataLoader: seed {self.seed!r}: a seed is an integer from 0 to 2**64 - 1")
        flags("DataLoader", drop_last=self.drop_last)
        if self.seed is None and isinstance(self.dataset, RandomDataset) and getattr(self.dataset, "random", True):
            raise DataError(
                f"DataLoader: {type(self.dataset).__name__} without a seed: its samples are random, so give seed=..."
            )
        if self.samples == 0:
            rule = "with drop_last an epoch has no batch: lower batch_size" if len(self.dataset) else "nothing to load"
            raise DataError(f"DataLoader: {len(self.dataset)} samples, batch_size {self.batch_size}: {rule}")

    def __len__(self) -> int:
        """Batches an epoch."""
        return -(-self.samples // self.batch_size)

    @property
    def samples(self) -> int:
        """Samples an epoch: all of them, without those that ``drop_last`` leaves out."""
        count = len(self.dataset)
        return count - count % self.batch_size if self.drop_last else count

    def steps(self, *, epochs: int, accumulate: int = 1) -> Steps:
        """The number of updates in so many epochs, as schedules want it; ``accumulate`` is that of `Trainer.fit`.

        Raises `DataError` unless both are whole numbers, from 0 and from 1."""
        if not is_whole(epochs) or epochs < 0 or not is_whole(accumulate) or accumulate < 1:
            raise DataError(
                f"DataLoader: steps(epochs={epochs!r}, accumulate={accumulate!r}): whole numbers from 0 and 1"
            )
        return Steps(epochs * -(-len(self) // accumulate))

    if not TYPE_CHECKING:

        def __iter__(self):
            """Refused, with advice."""
            raise DataError(
                "DataLoader: a loop over it does not say which epoch: for batch in loader.epoch(k), k counting from 0; "
                "each has an order of its own"
            )

    def order(self, epoch: int, /) -> Indices:
        """The positions of the samples in the data set, as this epoch visits them; shape ``(samples,)``.

        Raises `DataError` for an epoch < 0."""
        if not is_whole(epoch) or epoch < 0:
            raise DataError(f"DataLoader: epoch {epoch!r}: epochs count from 0")
        if self.seed is None:
            return np.arange(self.samples)
        return shuffled(len(self.dataset), Key(self.seed).fold("shuffle").fold(epoch))[: self.samples]

    def epoch(self, epoch: int, /, *, start: int = 0) -> Iterator[B]:
        """The batches of one epoch, from that of number ``start`` on: exactly those that a whole epoch ends with.

        Each is made when it is asked for, or ahead of that by workers. What a data set raises gets a note with the
        epoch, the batch and its samples. Raises `DataError` for an epoch < 0, and unless 0 <= start <= len(self)."""
        order = self.order(epoch)
        if not is_whole(start) or not 0 <= start <= len(self):
            raise DataError(f"DataLoader: epoch {epoch}, start {start}: an epoch has the batches 0 to {len(self) - 1}")
        make = _Maker(self._drawn(epoch), order, self.batch_size, epoch, len(self))
        if self.workers == 0 or start == len(self):
            # Not `map`: a data set that lets StopIteration escape would end the epoch, and nobody would know.
            return (make(number) for number in range(start, len(self)))
        ahead = self.workers * self.prefetch
        return _arrived(ordered(make.ahead, start, len(self), workers=self.workers, ahead=ahead))

    def stream(self, start: Position = _BEGINNING, /) -> Iterator[tuple[B, Position]]:
        """The batches from a position on, epoch after epoch without end, each with the position after it.

        Stored beside the model, that is where another run goes on, as if there had been no break. Raises `DataError`
        for a position with a batch that an epoch does not have."""
        first = self.epoch(start.epoch, start=start.batch)
        return self._stream(first, start)

    def _stream(self, batches: Iterator[B], start: Position, /) -> Iterator[tuple[B, Position]]:
        epoch, number = start.epoch, start.batch
        while True:
            for batch in batches:
                number += 1
                yield batch, Position(epoch, number) if number < len(self) else Position(epoch + 1)
            epoch, number = epoch + 1, 0
            batches = self.epoch(epoch)

    def _drawn(self, epoch: int, /) -> Dataset[B]:
        if not isinstance(self.dataset, RandomDataset):
            return self.dataset
        return self.dataset.drawn(Key(self.seed or 0).fold("draw").fold(epoch))  # there is a seed: see __post_init__


def _arrived[B](made: Generator[Arriving[B]], /) -> Iterator[B]:
    """The batches for the thread of the loop."""
    try:
        for one in made:
            yield one.taken()
    finally:
        made.close()


@dataclass(frozen=True, slots=True, eq=False)
class _Maker[B]:
    """Makes the batches of an epoch by their numbers."""

    dataset: Dataset[B]
    order: Indices
    size: int
    epoch: int
    batches: int

    def ahead(self, number: int, /) -> Arriving[B]:
        """In a thread that is not that of the loop."""
        return Arriving(partial(self, number))

    def __call__(self, number: int, /) -> B:
        indices = self.order[number * self.size : (number + 1) * self.size]
        try:
            return self.dataset.batch(indices)
        except Exception as error:
            shown = ", ".join(map(str, indices[:_SHOWN].tolist())) + (", ..." if len(indices) > _SHOWN else "")
            error.add_note(f"DataLoader: epoch {self.epoch}, batch {number} of {self.batches}: samples {shown}")
            raise
