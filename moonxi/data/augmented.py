"""Data sets whose batches go through steps on the host: random ones each epoch anew, or the same ones always."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from moonxi.data.augmentation import Augmentation, Normalize, Transform, Words
from moonxi.data.dataset import Dataset, HostDataset
from moonxi.data.drawn import Drawn
from moonxi.data.labelled import Labelled
from moonxi.data.order import Indices
from moonxi.dtypes import HostArray
from moonxi.errors import OperandError
from moonxi.key import Key
from moonxi.traits import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Augmented[T: Tensor]:
    """Images that each epoch shows in another way: a `RandomDataset`, of which a `DataLoader` draws one each epoch.

    The steps are taken in order. What becomes of an image depends on the seed, the epoch and the position of the image
    in ``source``; not on the batch size, nor on the order in which the images are visited. Where every step is a
    `Normalize` nothing is random, and no seed is needed; `Transformed` is for steps of your own that are not."""

    source: HostDataset[T]
    steps: tuple[Augmentation, ...]

    def __post_init__(self) -> None:
        if not hasattr(self.source, "host_batch"):
            raise OperandError(
                f"Augmented: {type(self.source).__name__}: expected images that can be had on the host, as "
                "LabelledArrays and ImageFolder; split those first, and augment each part"
            )

    def __len__(self) -> int:
        return len(self.source)

    @property
    def random(self) -> bool:
        """Whether another key gives other images."""
        return not all(isinstance(step, Normalize) for step in self.steps)

    def drawn(self, key: Key, /) -> Dataset[Labelled[T]]:
        """The images as this key has them: step ``i`` has block ``p + 1`` of ``key.fold(i)`` for the image at ``p``."""
        return Drawn(len(self.source), len(self.steps), key, self._changed)

    def _changed(self, indices: Indices, words: tuple[Words, ...]) -> Labelled[T]:
        x, labels = self.source.host_batch(indices)
        images = _floating(x)
        for step, own in zip(self.steps, words, strict=True):
            images = step(images, own)
        return Labelled(self.source.like.from_host(images), self.source.like.labels(labels))


@dataclass(frozen=True, slots=True, eq=False)
class Transformed[T: Tensor]:
    """Images that go through steps that are not random, as those of a test do."""

    source: HostDataset[T]
    steps: tuple[Transform, ...]

    def __len__(self) -> int:
        return len(self.source)

    def batch(self, indices: Indices, /) -> Labelled[T]:
        """The images at these positions, in this order, after the steps. Raises as ``source`` and the steps do."""
        x, labels = self.source.host_batch(indices)
        images = _floating(x)
        for step in self.steps:
            images = step(images)
        return Labelled(self.source.like.from_host(images), self.source.like.labels(labels))


def _floating(x: HostArray | NDArray[np.integer], /) -> HostArray:
    """Steps get numbers that can be averaged and divided; float64 stays what it is."""
    if np.issubdtype(x.dtype, np.floating):
        return cast(HostArray, x)  # as the line above has found
    return x.astype(np.float32)
