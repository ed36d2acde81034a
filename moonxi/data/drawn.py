"""The images of an epoch: what becomes of those of a data set by random words, which a key fixes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from moonxi.data.augmentation import WORDS, Words
from moonxi.data.labelled import Labelled
from moonxi.data.order import Indices, check_positions, philox_words
from moonxi.key import Key
from moonxi.traits import Tensor


@dataclass(frozen=True, eq=False)
class Drawn[T: Tensor]:
    """A `Dataset` of ``count`` images, made by a function of positions and of the words of each step for these."""

    count: int
    steps: int
    key: Key
    changed: Callable[[Indices, tuple[Words, ...]], Labelled[T]]

    def __len__(self) -> int:
        return self.count

    @cached_property
    def words(self) -> tuple[Words, ...]:
        """For each step, the words of all images: 32 bytes an image."""
        return tuple(
            philox_words(WORDS * self.count, self.key.fold(step)).reshape(self.count, WORDS)
            for step in range(self.steps)
        )

    def batch(self, indices: Indices, /) -> Labelled[T]:
        """The images at these positions, in this order.

        Raises `OperandError`, `DataError` and `AxisError` as `LabelledArrays.batch` does."""
        check_positions("batch", self.count, indices)
        return self.changed(indices, tuple(words[indices] for words in self.words))
