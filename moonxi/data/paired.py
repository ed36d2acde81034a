"""Samples with numbers as their targets: what regression learns from, in memory or mapped from files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from moonxi.data.order import Indices, check_positions, refuse_no_array
from moonxi.dtypes import HostArray
from moonxi.errors import AxisError, OperandError, ShapeError
from moonxi.traits import Tensor

type _Numbers = HostArray | NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Paired[T: Tensor]:
    """A batch: samples ``x`` and what a model should make of them, ``y``, along the first axis of each."""

    x: T
    y: T

    @property
    def size(self) -> int:
        """How many samples there are."""
        return self.x.shape[0]

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Paired[U]":
        """The same batch in another interpreter."""
        return Paired(f(self.x), f(self.y))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairedArrays[T: Tensor]:
    """Samples and their targets as NumPy arrays, which become batches that live where ``like`` lives.

    Both are floating point or integer, of any shape a sample, with a sample at each place of the first axis. They are
    not copied, and can only be read here. Raises `ShapeError` if there are more of one than of the other, and
    `OperandError` for anything but numbers."""

    like: T
    inputs: _Numbers
    targets: _Numbers

    def __post_init__(self) -> None:
        refuse_no_array("PairedArrays", inputs=self.inputs, targets=self.targets)
        for name, array in (("inputs", self.inputs), ("targets", self.targets)):
            if array.dtype.kind not in "fiu":
                raise OperandError(f"PairedArrays: {name} of {array.dtype}: expected real numbers")
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        if self.inputs.ndim == 0 or self.targets.ndim == 0 or len(self.inputs) != len(self.targets):
            raise ShapeError(
                f"PairedArrays: inputs {self.inputs.shape}, targets {self.targets.shape}: "
                "the first axes count the samples and must be equal"
            )

    def __len__(self) -> int:
        return len(self.inputs)

    def __repr__(self) -> str:
        return (
            f"PairedArrays({len(self)} samples: inputs {self.inputs.shape[1:]} {self.inputs.dtype}, "
            f"targets {self.targets.shape[1:]} {self.targets.dtype}, for {type(self.like).__name__})"
        )

    def batch(self, indices: Indices, /) -> Paired[T]:
        """The samples at these positions, in this order.

        Raises `OperandError` for anything but an array of integers with one axis, `DataError` for no positions at all,
        and `AxisError` for one outside the data set."""
        check_positions("batch", len(self), indices)
        x, y = self.inputs.take(indices, axis=0), self.targets.take(indices, axis=0)
        return Paired(self.like.from_host(x), self.like.from_host(y))

    def __getitem__(self, chosen: slice | NDArray[np.integer] | NDArray[np.bool_], /) -> Self:
        """A part, as a data set: a slice (which copies nothing), positions, or a boolean for each sample."""
        if not isinstance(chosen, slice | np.ndarray):
            raise OperandError(
                f"PairedArrays[{chosen!r}]: a part is chosen by a slice or an array: for one sample write [i:i+1]"
            )
        try:
            return replace(self, inputs=self.inputs[chosen], targets=self.targets[chosen])
        except IndexError as error:
            raise AxisError(f"PairedArrays[...]: {len(self)} samples: {error}") from None
