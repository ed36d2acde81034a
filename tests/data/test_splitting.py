from itertools import chain
from math import ceil, floor
from typing import assert_type

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import DataLoader, Labelled, LabelledArrays, PairedArrays, Subset, split, stratified_split
from moonxi.dtypes import F32
from moonxi.errors import OperandError, OptionError, ShapeError


def samples(count: int) -> LabelledArrays[NpArray[F32]]:
    return LabelledArrays(numpy(), np.arange(count, dtype=np.float32), np.arange(count) % 3)


fractions = st.lists(st.integers(1, 20), min_size=1, max_size=5).map(lambda ws: [w / sum(ws) for w in ws])


@given(count=st.integers(0, 200), fractions=fractions, seed=st.integers(0, 3))
def test_each_sample_is_in_one_part_and_each_part_has_its_fraction(
    count: int, fractions: list[float], seed: int
) -> None:
    parts = split(samples(count), fractions, seed=seed)
    numbers = [part.inputs.astype(int).tolist() for part in parts]
    assert sorted(chain.from_iterable(numbers)) == list(range(count))
    assert numbers == [sorted(part) for part in numbers]
    for part, fraction in zip(parts, fractions, strict=True):
        assert abs(len(part) - count * fraction) < 1


@given(tenths=st.integers(1, 9), count=st.integers(0, 30))
def test_a_fraction_that_fits_is_met_exactly(tenths: int, count: int) -> None:
    first, second = split(samples(10 * count), (tenths / 10, 1 - tenths / 10), seed=0)
    assert (len(first), len(second)) == (tenths * count, (10 - tenths) * count)


@given(
    labels=st.lists(st.integers(-2, 4), max_size=120).map(lambda found: np.array(found, np.int64)),
    fractions=fractions,
    seed=st.integers(0, 3),
)
def test_a_stratified_split_has_the_same_mixture_in_each_part(
    labels: np.ndarray, fractions: list[float], seed: int
) -> None:
    data = LabelledArrays(numpy(), np.arange(len(labels), dtype=np.float32), labels)
    parts = stratified_split(data, fractions, labels=labels, seed=seed)
    assert sorted(chain.from_iterable(part.inputs.astype(int).tolist() for part in parts)) == list(range(len(labels)))
    for part, fraction in zip(parts, fractions, strict=True):
        for number in set(labels.tolist()):
            share = int(np.sum(labels == number)) * fraction
            assert floor(share - 1e-9) <= int(np.sum(part.labels == number)) <= ceil(share + 1e-9)


def test_rare_classes_are_shared_out_fairly_over_the_parts() -> None:
    labels = np.arange(100)  # one sample of each class: rounding alone would give all of them to one part
    first, second = stratified_split(Subset.whole(samples(100)), (0.7, 0.3), labels=labels, seed=0)
    assert (len(first), len(second)) == (70, 30)


def test_a_split_depends_on_the_seed_alone() -> None:
    def first(seed: int) -> list[float]:
        found: list[float] = split(samples(50), (0.5, 0.5), seed=seed)[0].inputs.tolist()
        return found

    assert first(1) == first(1) != first(2)


def test_the_parts_are_of_the_class_of_the_data_set() -> None:
    train, test = split(samples(10), (0.8, 0.2), seed=0)
    assert_type(train, LabelledArrays[NpArray[F32]])
    pairs = PairedArrays(numpy(), np.ones((10, 2)), np.ones(10))
    assert_type(split(pairs, (0.8, 0.2), seed=0), tuple[PairedArrays[NpArray[F32]], ...])
    views = split(Subset.whole(samples(10)), (0.8, 0.2), seed=0)
    assert_type(views, tuple[Subset[Labelled[NpArray[F32]]], ...])
    assert [len(part) for part in views] == [8, 2]
    assert len(list(DataLoader(views[1], batch_size=2).epoch(0))) == 1
    assert len(test) == 2


@pytest.mark.parametrize("fractions", [(), (0.5,), (0.5, 0.6), (1.5, -0.5), (1.0, 0.0), (float("nan"), 0.5)])
def test_fractions_that_do_not_make_one_are_refused(fractions: tuple[float, ...]) -> None:
    with pytest.raises(OptionError, match=r"^split: fractions \(.*\): each is positive, and together they are 1$"):
        split(samples(10), fractions, seed=0)
    with pytest.raises(OptionError, match=r"^stratified_split: fractions "):
        stratified_split(samples(10), fractions, labels=np.zeros(10, int), seed=0)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^stratified_split: 10 samples, labels \(9,\): one for each sample$"):
        stratified_split(samples(10), (0.5, 0.5), labels=np.zeros(9, int), seed=0)
    floats: np.ndarray = np.zeros(10)
    with pytest.raises(OperandError, match=r"^stratified_split: labels of float64: classes are integers$"):
        stratified_split(samples(10), (0.5, 0.5), labels=floats, seed=0)
