from typing import assert_type

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import Labelled, LabelledArrays
from moonxi.data.order import shuffled
from moonxi.dtypes import F32, F64
from moonxi.errors import AxisError, DataError, OperandError, OptionError, ShapeError
from moonxi.key import Key, philox


def numbered(count: int) -> LabelledArrays[NpArray[F32]]:
    """Samples of which each is recognised: inputs (2 i, 2 i + 1), label 10 i."""
    inputs = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    return LabelledArrays(numpy(), inputs, 10 * np.arange(count))


def numbers(samples: LabelledArrays[NpArray[F32]]) -> list[int]:
    """The numbers of the samples, after a look at whether inputs and labels still belong together."""
    found: list[int] = (samples.labels // 10).tolist()
    assert samples.inputs.tolist() == [[2 * i, 2 * i + 1] for i in found]
    return found


def test_a_batch_has_the_samples_asked_for_in_that_order() -> None:
    batch = numbered(5).batch(np.array([3, 0, 3]))
    assert_type(batch, Labelled[NpArray[F32]])
    assert batch.x.to_host().tolist() == [[6, 7], [0, 1], [6, 7]]
    assert batch.labels.to_host().tolist() == [30, 0, 30]


def test_a_batch_has_the_element_type_of_like() -> None:
    samples = LabelledArrays(numpy(F64), np.full((2, 1), 0.1, np.float32), np.zeros(2, np.uint8))
    batch = samples.batch(np.array([0]))
    assert_type(batch, Labelled[NpArray[F64]])
    assert batch.x.dtype is F64
    assert batch.x.item() == float(np.float32(0.1))


def test_integer_inputs_become_numbers() -> None:
    samples = LabelledArrays(numpy(), np.array([[0, 255]], np.uint8), np.array([1]))
    assert samples.batch(np.array([0])).x.to_host().tolist() == [[0.0, 255.0]]


def test_labels_may_have_any_shape() -> None:
    samples = LabelledArrays(numpy(), np.zeros((2, 3), np.float32), np.arange(6).reshape(2, 3))
    assert samples.batch(np.array([1])).labels.to_host().tolist() == [[3, 4, 5]]


def test_an_empty_batch_is_refused() -> None:
    for samples in numbered(3), numbered(0):
        message = f"batch: 0 of {len(samples)} samples: a batch has at least one sample"
        with pytest.raises(DataError, match=f"^{message}$"):
            samples.batch(np.array([], np.intp))


@pytest.mark.parametrize("index", [3, -4])
def test_a_position_outside_is_refused(index: int) -> None:
    with pytest.raises(AxisError, match=f"^batch: 3 samples: position {index} lies outside$"):
        numbered(3).batch(np.array([0, index]))


def test_inputs_and_labels_of_different_length_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^LabelledArrays: inputs \(3, 2\), labels \(2,\): the first axes count"):
        LabelledArrays(numpy(), np.zeros((3, 2), np.float32), np.zeros(2, np.int64))
    with pytest.raises(ShapeError, match=r"^LabelledArrays: inputs \(\), labels \(\): the first axes count"):
        LabelledArrays(numpy(), np.zeros((), np.float32), np.zeros((), np.int64))


def test_labels_that_are_no_integers_are_refused() -> None:
    numbers = np.zeros(2, np.float32)
    with pytest.raises(OperandError, match=r"^LabelledArrays: labels of float32: classes are integers$"):
        LabelledArrays(numpy(), numbers, numbers)  # type: ignore[arg-type]  # on purpose


def test_parts_are_chosen_by_slice_positions_or_booleans() -> None:
    samples = numbered(6)
    assert numbers(samples[1:4]) == [1, 2, 3]
    assert numbers(samples[::-2]) == [5, 3, 1]
    assert numbers(samples[6:]) == []
    assert numbers(samples[np.array([4, 4, 0])]) == [4, 4, 0]
    assert numbers(samples[samples.labels >= 30]) == [3, 4, 5]
    assert_type(samples[1:4], LabelledArrays[NpArray[F32]])


def test_a_single_position_or_one_outside_is_refused_with_advice() -> None:
    samples = numbered(3)
    with pytest.raises(OperandError, match=r"LabelledArrays\[1\]: .*: for one sample write \[i:i\+1\]"):
        samples[1]  # type: ignore[index]  # on purpose
    with pytest.raises(AxisError, match=r"LabelledArrays\[...\]: 3 samples: index 3 is out of bounds"):
        samples[np.array([3])]
    with pytest.raises(AxisError, match=r"LabelledArrays\[...\]: 3 samples: boolean index did not match"):
        samples[np.array([True])]


def test_a_slice_copies_nothing() -> None:
    samples = numbered(6)
    assert np.shares_memory(samples[2:].inputs, samples.inputs)


def test_the_arrays_cannot_be_written_through_a_data_set() -> None:
    own = np.zeros((2, 2), np.float32)
    samples = LabelledArrays(numpy(), own, np.zeros(2, np.int64))
    for array in samples.inputs, samples.labels, samples[:1].inputs:
        with pytest.raises(ValueError, match="read-only"):
            array += 1
    own += 1  # the owner may


@given(count=st.integers(0, 20), data=st.data())
def test_a_split_has_every_sample_once(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, count))
    seed = data.draw(st.none() | st.integers(0, 9))
    left, right = (numbers(part) for part in numbered(count).split(first, seed=seed))
    assert len(left) == first
    assert sorted(left + right) == list(range(count))
    if seed is None:
        assert left + right == list(range(count))


def test_a_split_is_fixed_by_its_seed() -> None:
    first, again, other = (numbers(numbered(100).split(50, seed=seed)[0]) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("count", [-1, 4])
def test_a_split_at_more_samples_than_there_are_is_refused(count: int) -> None:
    with pytest.raises(DataError, match=f"^split: {count} of 3 samples: there are not as many$"):
        numbered(3).split(count)


def test_repr_describes_and_does_not_print_the_samples() -> None:
    assert repr(numbered(3)) == "LabelledArrays(3 samples: inputs (2,) float32, labels () int64, for NpArray)"


def test_an_order_is_the_same_with_every_version_of_numpy() -> None:
    assert shuffled(8, Key(0)).tolist() == [0, 2, 1, 5, 4, 3, 6, 7]
    assert shuffled(8, Key(3, 7)).tolist() == [5, 0, 6, 7, 4, 2, 3, 1]


def test_an_order_sorts_the_words_of_philox() -> None:
    words = [word for block in (1, 2) for word in philox((block, 0, 0, 0), (3, 7))]
    assert shuffled(8, Key(3, 7)).tolist() == sorted(range(8), key=words.__getitem__)


@given(count=st.integers(0, 200), seed=st.integers(0, 2**64 - 1))
def test_an_order_has_every_number_once(count: int, seed: int) -> None:
    order = shuffled(count, Key(seed))
    assert sorted(order.tolist()) == list(range(count))
    assert order.dtype == np.intp


@given(data=st.data())
def test_bytes_become_numbers_from_0_to_1_when_a_batch_is_made(data: st.DataObject) -> None:
    stored = np.array(data.draw(st.lists(st.integers(0, 255), min_size=1)), np.uint8)
    samples = LabelledArrays(numpy(), stored, np.zeros(len(stored), np.int64), divisor=255)
    assert samples.inputs.dtype == np.uint8
    batch = samples.batch(np.arange(len(stored)))
    assert batch.x.to_host().tolist() == (stored.astype(np.float32) / np.float32(255)).tolist()
    assert samples[:1].divisor == samples.split(1)[1].divisor == 255
    assert (
        repr(samples) == f"LabelledArrays({len(stored)} samples: inputs () uint8 / 255, labels () int64, for NpArray)"
    )


def test_a_batch_on_the_host_has_the_numbers_of_the_batch() -> None:
    inputs, labels = numbered(5).host_batch(np.array([3, 0]))
    assert inputs.tolist() == [[6, 7], [0, 1]]
    assert labels.tolist() == [30, 0]


@pytest.mark.parametrize("divisor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_divisor_that_gives_no_numbers_is_refused(divisor: float) -> None:
    with pytest.raises(OptionError, match=f"^LabelledArrays: divisor={divisor}: must be positive and finite$"):
        LabelledArrays(numpy(), np.zeros((2, 1), np.uint8), np.zeros(2, np.int64), divisor=divisor)
