"""Views of a data set: some of its samples, or all of them changed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from moonxi.data.dataset import Dataset
from moonxi.data.order import Indices, check_positions, refuse_no_array
from moonxi.errors import AxisError, OperandError


@dataclass(frozen=True, slots=True, eq=False)
class Subset[B]:
    """The samples of a data set at these positions, in this order; nothing is copied.

    Raises `OperandError` unless the positions are an array of integers with one axis, and `AxisError` for one outside
    the data set, from 0 to one less than its length."""

    dataset: Dataset[B]
    positions: NDArray[np.integer]

    def __post_init__(self) -> None:
        refuse_no_array("Subset", positions=self.positions)
        if self.positions.ndim != 1 or not np.issubdtype(self.positions.dtype, np.integer):
            raise OperandError(
                f"Subset: positions {self.positions.shape} of {self.positions.dtype}: expected integers along one axis"
            )
        count = len(self.dataset)
        outside = self.positions[(self.positions < 0) | (self.positions >= count)]
        if outside.size:
            raise AxisError(f"Subset: {count} samples: position {outside[0]} lies outside")

    @classmethod
    def whole(cls, dataset: Dataset[B], /) -> Self:
        """All samples: of this a part, or the parts of a `split`, are views too."""
        return cls(dataset, np.arange(len(dataset)))

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, indices: Indices, /) -> B:
        """The samples at these positions of the subset. Raises as `LabelledArrays.batch` and the data set do."""
        check_positions("batch", len(self), indices)
        return self.dataset.batch(self.positions.take(indices).astype(np.intp, copy=False))

    def __getitem__(self, chosen: NDArray[np.integer] | slice, /) -> Self:
        """A part of the subset."""
        return type(self)(self.dataset, self.positions[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Mapped[A, B]:
    """A data set whose batches are those of another one after a function.

    The function is called for each batch anew; with workers in several threads at a time."""

    dataset: Dataset[A]
    function: Callable[[A], B]

    def __len__(self) -> int:
        return len(self.dataset)

    def batch(self, indices: Indices, /) -> B:
        """What the function makes of the samples at these positions. Raises as the data set and the function do."""
        return self.function(self.dataset.batch(indices))
