from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import DataLoader, Indices, Labelled, LabelledArrays
from moonxi.dtypes import F32
from moonxi.errors import DataError
from moonxi.traits import Tensor


@dataclass(frozen=True)
class Count:
    """A data set of somebody's own: the numbers 0 to length - 1, a batch being a list of them."""

    length: int

    def __len__(self) -> int:
        return self.length

    def batch(self, indices: Indices, /) -> list[int]:
        found: list[int] = indices.tolist()
        return found


@given(
    count=st.integers(1, 50),
    batch_size=st.integers(1, 60),
    seed=st.none() | st.integers(0, 3),
    epoch=st.integers(0, 3),
    drop_last=st.booleans(),
)
def test_an_epoch_has_every_sample_once_in_batches_of_the_size_asked_for(
    count: int, batch_size: int, seed: int | None, epoch: int, drop_last: bool
) -> None:
    if drop_last and count < batch_size:
        count += batch_size
    loader = DataLoader(Count(count), batch_size=batch_size, seed=seed, drop_last=drop_last)
    batches = list(loader.epoch(epoch))
    visited = [number for batch in batches for number in batch]
    assert len(batches) == len(loader)
    assert len(visited) == loader.samples == (count // batch_size * batch_size if drop_last else count)
    assert visited == loader.order(epoch).tolist()
    assert len(set(visited)) == len(visited)
    assert set(visited) <= set(range(count))
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert 1 <= len(batches[-1]) <= batch_size
    assert len(batches[-1]) == batch_size or not drop_last


def test_without_a_seed_the_samples_come_as_they_are_stored() -> None:
    loader = DataLoader(Count(5), batch_size=2)
    for epoch in 0, 1:
        assert list(loader.epoch(epoch)) == [[0, 1], [2, 3], [4]]


def test_the_order_depends_on_seed_and_epoch_and_on_nothing_else() -> None:
    def loader(seed: int, batch_size: int = 4) -> DataLoader[list[int]]:
        return DataLoader(Count(100), batch_size=batch_size, seed=seed)

    first = loader(1)
    started = first.epoch(7)
    next(started)
    for _ in first.epoch(0):  # neither what was iterated before, to the end or not,
        pass
    assert list(first.epoch(3)) == list(loader(1).epoch(3))
    assert first.order(3).tolist() == loader(1, batch_size=9).order(3).tolist()  # nor the batch size
    assert first.order(3).tolist() != first.order(4).tolist()
    assert first.order(3).tolist() != loader(2).order(3).tolist()
    assert [next(first.epoch(7)), *started] == list(first.epoch(7))  # and epochs do not disturb each other


def test_the_epochs_visit_each_sample_at_every_place() -> None:
    """Over 4,000 epochs each of the 24 orders of 4 samples comes 166.7 times, with a deviation of 12.6."""
    loader = DataLoader(Count(4), batch_size=4, seed=0)
    orders = [tuple(loader.order(epoch).tolist()) for epoch in range(4000)]
    times = [orders.count(order) for order in set(orders)]
    assert len(times) == 24
    assert min(times) > 166.7 - 5 * 12.6
    assert max(times) < 166.7 + 5 * 12.6


def test_labelled_arrays_come_as_batches_in_the_tensor_of_like() -> None:
    inputs = np.arange(10, dtype=np.float32).reshape(5, 2)
    loader = DataLoader(LabelledArrays(numpy(), inputs, np.arange(5)), batch_size=2, seed=0)
    assert_type(loader, DataLoader[Labelled[NpArray[F32]]])
    for epoch in 0, 1:
        batches = list(loader.epoch(epoch))
        assert [batch.x.shape for batch in batches] == [(2, 2), (2, 2), (1, 2)]
        for batch in batches:
            assert batch.x.to_host().tolist() == inputs[batch.labels.to_host()].tolist()


@dataclass(frozen=True)
class Pairs[T: Tensor]:
    x: T
    y: T

    def map[U: Tensor](self, f: Callable[[T], U], /) -> "Pairs[U]":
        return Pairs(f(self.x), f(self.y))


@dataclass(frozen=True)
class Line[T: Tensor]:
    """Points of y = 3 x + 1, generic in the tensor."""

    like: T

    def __len__(self) -> int:
        return 8

    def batch(self, indices: Indices, /) -> Pairs[T]:
        x = self.like.from_host(indices)
        return Pairs(x, x * 3 + 1)


def test_a_data_set_of_ones_own_gives_batches_of_its_own_class() -> None:
    loader = DataLoader(Line(numpy()), batch_size=3)
    assert_type(loader, DataLoader[Pairs[NpArray[F32]]])
    assert [batch.y.to_host().tolist() for batch in loader.epoch(0)] == [[1, 4, 7], [10, 13, 16], [19, 22]]


@pytest.mark.parametrize("batch_size", [0, -3])
def test_a_batch_size_below_one_is_refused(batch_size: int) -> None:
    with pytest.raises(
        DataError, match=f"^DataLoader: batch_size {batch_size}: a batch has a whole number of samples from 1$"
    ):
        DataLoader(Count(5), batch_size=batch_size)


def test_an_epoch_without_a_batch_is_refused() -> None:
    with pytest.raises(DataError, match=r"^DataLoader: 0 samples, batch_size 4: nothing to load$"):
        DataLoader(Count(0), batch_size=4)
    message = "^DataLoader: 3 samples, batch_size 4: with drop_last an epoch has no batch: lower batch_size$"
    with pytest.raises(DataError, match=message):
        DataLoader(Count(3), batch_size=4, drop_last=True)
    assert len(DataLoader(Count(3), batch_size=4)) == 1


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_is_no_64_bit_number_is_refused(seed: int) -> None:
    with pytest.raises(DataError, match=rf"^DataLoader: seed {seed}: a seed is an integer from 0 to 2\*\*64 - 1$"):
        DataLoader(Count(5), batch_size=1, seed=seed)


def test_a_negative_epoch_is_refused_before_the_first_batch() -> None:
    with pytest.raises(DataError, match=r"^DataLoader: epoch -1: epochs count from 0$"):
        DataLoader(Count(5), batch_size=1).epoch(-1)


def test_a_loop_over_the_loader_itself_is_refused_with_advice() -> None:
    loader: Any = DataLoader(LabelledArrays(numpy(), np.zeros((2, 1)), np.zeros(2, np.int64)), batch_size=1)
    with pytest.raises(DataError, match=r"for batch in loader\.epoch\(k\)"):
        list(loader)


def test_a_batch_size_is_a_whole_number() -> None:
    size: Any = 2.5
    with pytest.raises(DataError, match=r"batch_size 2\.5"):
        DataLoader(LabelledArrays(numpy(), np.zeros((2, 1)), np.zeros(2, np.int64)), batch_size=size)


def test_the_steps_of_epochs_are_those_that_a_trainer_makes() -> None:
    loader = DataLoader(Count(10), batch_size=3)
    assert loader.steps(epochs=2) == 2 * len(loader) == 8
    assert loader.steps(epochs=2, accumulate=3) == 4
    assert loader.steps(epochs=0) == 0
    for epochs, accumulate in ((-1, 1), (1, 0), (True, 1)):
        with pytest.raises(DataError, match=rf"^DataLoader: steps\(epochs={epochs}, accumulate={accumulate}\): whole"):
            loader.steps(epochs=epochs, accumulate=accumulate)
