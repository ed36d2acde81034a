"""What a trainer is given: batches, where they come from, models, losses and settings."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NotRequired, Protocol

from typing_extensions import TypedDict

from moonxi.data import DataLoader
from moonxi.key import Key
from moonxi.nn import Mode
from moonxi.optim import Ema, Predicate, Trainable
from moonxi.traits import Tensor


class BatchOf[T, G, Lifted](Protocol):
    """A batch of ``T`` that is of class ``Lifted`` under differentiation: `Labelled`, or a dataclass of yours."""

    @property
    def size(self) -> int: ...
    def map(self, f: Callable[[T], G], /) -> Lifted: ...


class Batches[B](Protocol):
    """What gives the batches of an epoch: a `DataLoader`, or a class of yours."""

    def __len__(self) -> int: ...
    def epoch(self, epoch: int, /) -> Iterator[B]: ...


class TrainableModel[T: Tensor, G, M, Up](Trainable[T, M], Protocol):
    """A model of class ``M`` that is of class ``Up`` under differentiation: every `Module`."""

    def map(self, f: Callable[[T], G], /) -> Up: ...


type Loss[M, B, G] = Callable[[M, B, Mode], G | tuple[G, Mapping[str, G]]]
"""A loss function: of a model, a batch and the mode; it gives a scalar, or a scalar and named scalars besides."""


class Settings(TypedDict, closed=True):
    """What a `Trainer` is told besides model, loss and optimizer."""

    key: Key
    ema: NotRequired[Ema | None]
    frozen: NotRequired[Predicate | None]
    compile: NotRequired[bool]


def batches_from[B](data: Batches[B], epoch: int, start: int, /) -> Iterator[B]:
    """The batches of an epoch from that of number ``start`` on; a `DataLoader` does not make those before it."""
    if start == 0:
        return data.epoch(epoch)
    if isinstance(data, DataLoader):
        return data.epoch(epoch, start=start)
    return islice(data.epoch(epoch), start, None)
