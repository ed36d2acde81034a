"""Data sets whose batches go through steps on the host: random ones each epoch anew, or the same ones always."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from moonxi.data.augmentation import WORDS, Augmentation, Normalize, Transform, Words
from moonxi.data.dataset import Dataset, HostDataset
from moonxi.data.labelled import Labelled
from moonxi.data.order import Indices, philox_words
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
        return _Drawn(self.source, self.steps, key)


@dataclass(frozen=True, eq=False)
class _Drawn[T: Tensor]:
    source: HostDataset[T]
    steps: tuple[Augmentation, ...]
    key: Key

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def words(self) -> tuple[Words, ...]:
        return words_of(self.key, len(self.steps), len(self.source))

    def batch(self, indices: Indices, /) -> Labelled[T]:
        x, labels = self.source.host_batch(indices)
        images = _floating(x)
        for step, words in zip(self.steps, self.words, strict=True):
            images = step(images, words[indices])
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


def words_of(key: Key, steps: int, count: int, /) -> tuple[Words, ...]:
    """For each step, the words of all images: 32 bytes an image."""
    return tuple(philox_words(WORDS * count, key.fold(step)).reshape(count, WORDS) for step in range(steps))


def _floating(x: HostArray | NDArray[np.integer], /) -> HostArray:
    """Steps get numbers that can be averaged and divided; float64 stays what it is."""
    if np.issubdtype(x.dtype, np.floating):
        return cast(HostArray, x)  # as the line above has found
    return x.astype(np.float32)
