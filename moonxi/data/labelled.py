"""A batch of samples with their classes."""

from collections.abc import Callable
from dataclasses import dataclass

from moonxi.traits import Labels, Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Labelled[T: Tensor]:
    """Samples and their classes: ``x`` has the samples along its first axis, and so have ``labels``."""

    x: T
    labels: Labels[T]

    @property
    def size(self) -> int:
        """How many samples there are."""
        return self.labels.shape[0]

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Labelled[U]":
        """The same batch in another interpreter, labels included."""
        return Labelled(f(self.x), self.labels.map(f))
