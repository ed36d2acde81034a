"""Data sets: what a `DataLoader` asks of one, and labelled samples in the memory of the host."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from moonxi import settings
from moonxi.data.labelled import Labelled
from moonxi.data.order import Indices, check_positions, refuse_no_array, shuffled
from moonxi.dtypes import HostArray, HostLabels
from moonxi.errors import AxisError, DataError, OperandError, ShapeError
from moonxi.key import Key
from moonxi.traits import Tensor


class Dataset[B](Protocol):
    """Samples that can be had as batches of class ``B``: any class with these two methods is a data set."""

    def __len__(self) -> int:
        """How many samples there are."""
        ...

    def batch(self, indices: Indices, /) -> B:
        """The samples at these positions, in this order, as one batch."""
        ...


@runtime_checkable
class RandomDataset[B](Protocol):
    """Samples that are drawn anew each epoch, as augmented ones are: a key fixes them, and makes a data set of them.

    One that has an attribute ``random`` which is false has the same samples for every key."""

    def __len__(self) -> int:
        """How many samples there are."""
        ...

    def drawn(self, key: Key, /) -> Dataset[B]:
        """The samples as this key has them: the same key, the same samples, in whatever batches they are had."""
        ...


class HostDataset[T: Tensor](Protocol):
    """Labelled samples that can be had on the host, before they go where ``like`` lives."""

    @property
    def like(self) -> T:
        """Where batches live, and of which class they are."""
        ...

    def __len__(self) -> int:
        """How many samples there are."""
        ...

    def host_batch(self, indices: Indices, /) -> tuple[HostArray | NDArray[np.integer], HostLabels]:
        """Inputs and labels at these positions, in this order."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelledArrays[T: Tensor]:
    """Samples and their classes as NumPy arrays, which become batches that live where ``like`` lives.

    ``inputs`` (floating point or integer, any shape a sample) and ``labels`` (integer) have a sample at each place
    of the first axis. They are not copied, and can only be read here. With a ``divisor``, a batch has the inputs
    divided by it as float32: images are kept as bytes, and each batch is in [0, 1] with a divisor of 255. Raises
    `ShapeError` if there are more of one than of the other, `OperandError` if the labels are not integers, and
    `OptionError` if the divisor is not positive."""

    like: T
    inputs: HostArray | NDArray[np.integer]
    labels: HostLabels
    _: KW_ONLY
    divisor: float | None = None

    def __post_init__(self) -> None:
        refuse_no_array("LabelledArrays", inputs=self.inputs, labels=self.labels)
        if self.inputs.ndim == 0 or self.labels.ndim == 0 or len(self.inputs) != len(self.labels):
            raise ShapeError(
                f"LabelledArrays: inputs {self.inputs.shape}, labels {self.labels.shape}: "
                "the first axes count the samples and must be equal"
            )
        if not np.issubdtype(self.labels.dtype, np.integer):
            raise OperandError(f"LabelledArrays: labels of {self.labels.dtype}: classes are integers")
        if self.divisor is not None:
            settings.numbers("LabelledArrays", settings.POSITIVE, divisor=self.divisor)
        # Views of one array may be in several data sets, so nobody may write through any of them.
        object.__setattr__(self, "inputs", _read_only(self.inputs))
        object.__setattr__(self, "labels", _read_only(self.labels))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        divided = "" if self.divisor is None else f" / {self.divisor:g}"
        return (
            f"LabelledArrays({len(self)} samples: inputs {self.inputs.shape[1:]} {self.inputs.dtype}{divided}, "
            f"labels {self.labels.shape[1:]} {self.labels.dtype}, for {type(self.like).__name__})"
        )

    def batch(self, indices: Indices, /) -> Labelled[T]:
        """The samples at these positions, in this order.

        Raises `OperandError` for anything but an array of integers with one axis, `DataError` for no positions at all,
        and `AxisError` for one outside the data set."""
        x, labels = self.host_batch(indices)
        return Labelled(self.like.from_host(x), self.like.labels(labels))

    def host_batch(self, indices: Indices, /) -> tuple[HostArray | NDArray[np.integer], HostLabels]:
        """What `batch` gives, as arrays on the host; raises as it does."""
        check_positions("batch", len(self), indices)
        x, labels = self.inputs.take(indices, axis=0), self.labels.take(indices, axis=0)
        if self.divisor is None:
            return x, labels
        divided = x.astype(np.float32)
        divided /= np.float32(self.divisor)
        return divided, labels

    def __getitem__(self, chosen: slice | NDArray[np.integer] | NDArray[np.bool_], /) -> Self:
        """A part, as a data set: a slice (which copies nothing), positions, or a boolean for each sample."""
        if not isinstance(chosen, slice | np.ndarray):
            raise OperandError(
                f"LabelledArrays[{chosen!r}]: a part is chosen by a slice or an array: for one sample write [i:i+1]"
            )
        try:
            return replace(self, inputs=self.inputs[chosen], labels=self.labels[chosen])
        except IndexError as error:
            raise AxisError(f"LabelledArrays[...]: {len(self)} samples: {error}") from None

    def split(self, count: int, /, *, seed: int | None = None) -> tuple[Self, Self]:
        """The first ``count`` samples and the others; with a seed, ``count`` drawn at random and the others.

        Raises `DataError` unless 0 <= count <= len(self)."""
        if not settings.is_whole(count) or not 0 <= count <= len(self):
            raise DataError(f"split: {count} of {len(self)} samples: there are not as many")
        if seed is None:
            return self[:count], self[count:]
        order = shuffled(len(self), Key(seed).fold("split"))
        return self[order[:count]], self[order[count:]]


@dataclass(frozen=True, slots=True, eq=False)
class TrainTest[T: Tensor]:
    """A data set in the two parts in which it is published: one to learn from, one to be judged by."""

    train: LabelledArrays[T]
    test: LabelledArrays[T]


def _read_only[D: np.generic](array: NDArray[D], /) -> NDArray[D]:
    view = array.view()
    view.flags.writeable = False
    return view
