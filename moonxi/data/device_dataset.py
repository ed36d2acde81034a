"""Data sets that live where tensors do, such as on a GPU: batches are put together and augmented there."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from moonxi.data.augmentation import Words
from moonxi.data.dataset import Dataset, HostDataset
from moonxi.data.drawn import Drawn
from moonxi.data.labelled import Labelled
from moonxi.data.order import Indices, check_positions
from moonxi.dtypes import HostLabels
from moonxi.errors import DataError, OperandError
from moonxi.key import Key
from moonxi.traits import Tensor

_CHUNK = 4096
"""Samples that are read from the host's data set at a time."""


class DeviceAugmentation(Protocol):
    """An augmentation that works on tensors: `Crop`, `Flip`, `Cutout`, `Normalize`."""

    def on_tensors[T: Tensor](self, images: T, words: Words, /) -> T:
        """New images ``(n, channels, rows, columns)``, each by its own four words ``(n, 4)``."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeviceDataset[T: Tensor]:
    """Labelled samples in the memory where ``like`` lives: a `Dataset` whose batches are gathered there.

    ``DeviceDataset.of(images)`` brings all samples over, once; of a batch only the positions and the labels are, a few
    bytes a sample. The batches are those of the data set of the host, to the bit, and so are the orders of a
    `DataLoader`. What does not fit stays on the host: see ``workers`` of `DataLoader`."""

    like: T
    columns: T
    """The samples along the last axis: what a batch takes is then together for each pixel."""
    labels: HostLabels

    @classmethod
    def of(cls, source: HostDataset[T], /) -> "DeviceDataset[T]":
        """All samples of a data set of the host. Raises `DataError` for none, `OperandError` for another data set."""
        if not hasattr(source, "host_batch"):
            raise OperandError(
                f"DeviceDataset.of: {type(source).__name__}: expected samples that can be had on the host, as those of "
                "LabelledArrays and ImageFolder; split those first, and bring each part over"
            )
        count = len(source)
        if not count:
            raise DataError("DeviceDataset.of: 0 samples: there is nothing to bring over")
        columns: NDArray[np.floating] | None = None
        labels = []
        for first in range(0, count, _CHUNK):
            some = np.arange(first, min(first + _CHUNK, count))
            x, classes = source.host_batch(some)
            if columns is None:
                kind = x.dtype if np.issubdtype(x.dtype, np.floating) else np.float32
                columns = np.empty((*x.shape[1:], count), kind)
            columns[..., some] = np.moveaxis(x, 0, -1)
            labels.append(classes)
        assert columns is not None, "there is a sample"
        return cls(source.like, source.like.from_host(columns), np.concatenate(labels))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        shape, dtype = self.columns.shape[:-1], self.columns.dtype.__name__
        return f"DeviceDataset({len(self)} samples: inputs {shape} {dtype}, in {type(self.like).__name__})"

    def batch(self, indices: Indices, /) -> Labelled[T]:
        """The samples at these positions, in this order.

        Raises `OperandError` for anything but an array of integers with one axis, `DataError` for no positions at all,
        and `AxisError` for one outside the data set."""
        check_positions("batch", len(self), indices)
        found = self.columns.gather(self.like.labels(indices % len(self)))
        last = len(found.shape) - 1
        return Labelled(found.permute((last, *range(last))), self.like.labels(self.labels[indices]))

    def augmented(self, steps: tuple[DeviceAugmentation, ...], /) -> "DeviceAugmented[T]":
        """The same images, changed at random each epoch as `Augmented` does with these steps, but where they live."""
        return DeviceAugmented(self, steps)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceAugmented[T: Tensor]:
    """Images on a device that each epoch shows in another way: a `RandomDataset`.

    The random words are those of `Augmented`, so that `Crop`, `Flip` and `Cutout` give the same images to the bit.
    `Normalize` does so where the images of the host have the element type of ``like``, as F32 has; otherwise it rounds
    in another place."""

    source: DeviceDataset[T]
    steps: tuple[DeviceAugmentation, ...]

    def __post_init__(self) -> None:
        for step in self.steps:
            given: object = step
            if not hasattr(given, "on_tensors"):
                raise OperandError(
                    f"DeviceDataset.augmented: {type(given).__name__}: expected steps that work on tensors, such as "
                    "Crop and Flip; steps on arrays of the host are for Augmented"
                )

    def __len__(self) -> int:
        return len(self.source)

    def drawn(self, key: Key, /) -> Dataset[Labelled[T]]:
        """The images as this key has them."""
        return Drawn(len(self.source), len(self.steps), key, self._changed)

    def _changed(self, indices: Indices, words: tuple[Words, ...]) -> Labelled[T]:
        found = self.source.batch(indices)
        x = found.x
        for step, own in zip(self.steps, words, strict=True):
            x = step.on_tensors(x, own)
        return Labelled(x, found.labels)
