"""`DataLoader`: an epoch of a data set as batches, in an order that seed and epoch fix."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np

from moonxi.data.dataset import Dataset, RandomDataset
from moonxi.data.order import Indices, shuffled
from moonxi.errors import DataError
from moonxi.key import Key


@dataclass(frozen=True, slots=True, eq=False)
class DataLoader[B]:
    """The batches of a data set, of class ``B``.

    With a ``seed`` each epoch has an order of its own, which only seed, epoch and number of samples decide; without
    one the samples come as they are stored. The last batch may be smaller than ``batch_size``; ``drop_last`` leaves
    it out if so. A `RandomDataset` is drawn anew each epoch, with a key that seed and epoch fix, and so needs a seed.
    The loader holds no state: epochs can be repeated, and had in any order, or several at a time.

    Raises `DataError` if an epoch would have no batch (no samples, or fewer than one batch and ``drop_last``), for
    ``batch_size`` < 1, for a seed outside 0 to 2**64 - 1, and for a random data set without a seed."""

    dataset: Dataset[B] | RandomDataset[B]
    _: KW_ONLY
    batch_size: int
    seed: int | None = None
    drop_last: bool = False

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise DataError(f"DataLoader: batch_size {self.batch_size}: a batch has at least one sample")
        if self.seed is not None and not 0 <= self.seed < 2**64:
            raise DataError(f"DataLoader: seed {self.seed}: a seed is an integer from 0 to 2**64 - 1")
        if self.seed is None and isinstance(self.dataset, RandomDataset):
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

    def order(self, epoch: int, /) -> Indices:
        """The positions of the samples in the data set, as this epoch visits them; shape ``(samples,)``.

        Raises `DataError` for an epoch < 0."""
        if epoch < 0:
            raise DataError(f"DataLoader: epoch {epoch}: epochs count from 0")
        if self.seed is None:
            return np.arange(self.samples)
        return shuffled(len(self.dataset), Key(self.seed).fold("shuffle").fold(epoch))[: self.samples]

    def epoch(self, epoch: int, /) -> Iterator[B]:
        """The batches of one epoch, each made when it is asked for. Raises `DataError` for an epoch < 0."""
        order, size, dataset = self.order(epoch), self.batch_size, self._drawn(epoch)
        return (dataset.batch(order[start : start + size]) for start in range(0, len(order), size))

    def _drawn(self, epoch: int, /) -> Dataset[B]:
        if not isinstance(self.dataset, RandomDataset):
            return self.dataset
        return self.dataset.drawn(Key(self.seed or 0).fold("draw").fold(epoch))  # there is a seed: see __post_init__
