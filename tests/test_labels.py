from typing import Any

import jaxtyping
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.autodiff import constant, variable
from moonxi.backends.numpy import numpy
from moonxi.dtypes import F32, F64, I64, Bool
from moonxi.errors import OperandError
from moonxi.traits import Labels, Mask, MlpTensor

LIKES = (numpy(F32), numpy(F64), variable(numpy(F64)), variable(variable(numpy())))
every_like = pytest.mark.parametrize("like", LIKES, ids=("F32", "F64", "Grad F64", "Grad Grad F32"))
booleans = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=2).map(np.array)


def masks[T: MlpTensor](like: T, array: Any) -> Mask[T]:
    return like.from_host(np.asarray(array, np.float64)) > 0.5


@every_like
def test_labels_hold_int64_whatever_they_come_from[T: MlpTensor](like: T) -> None:
    for kind in "u1", "i2", "i8", ">i4":
        labels = like.labels(np.array([[0, 1, 9], [3, 2, 7]], kind))
        assert isinstance(labels, Labels)
        assert labels.shape == (2, 3)
        assert labels.to_host().dtype == np.int64
        np.testing.assert_array_equal(labels.to_host(), [[0, 1, 9], [3, 2, 7]])


def test_labels_keep_numbers_that_a_float_cannot_hold() -> None:
    large = np.array([2**53 + 1, -(2**62) - 1])
    np.testing.assert_array_equal(numpy().labels(large).to_host(), large)


@every_like
def test_labels_are_a_copy[T: MlpTensor](like: T) -> None:
    source = np.array([1, 2])
    labels = like.labels(source)
    source[0] = 7
    labels.to_host()[1] = 7
    np.testing.assert_array_equal(labels.to_host(), [1, 2])


@every_like
@pytest.mark.parametrize("array", [np.zeros(2), np.zeros(2, np.bool_), np.array(["a"]), [1, 2], 3])
def test_what_is_no_array_of_integers_is_no_labels[T: MlpTensor](like: T, array: Any) -> None:
    with pytest.raises(OperandError, match=r"labels: .*: expected a NumPy array of integers, one class index each"):
        like.labels(array)


@every_like
def test_labels_compare_to_a_mask[T: MlpTensor](like: T) -> None:
    a, b = like.labels(np.array([[0, 1], [2, 3]])), like.labels(np.array([0, 3]))
    np.testing.assert_array_equal(a.equal(b).to_host(), [[True, False], [False, True]])
    assert a.equal(b).to_tensor(like).mean().item() == 0.5


@every_like
def test_a_part_of_labels_and_of_a_mask_is_selected_as_of_a_tensor[T: MlpTensor](like: T) -> None:
    array = np.arange(12).reshape(3, 4)
    labels = like.labels(array)
    mask = masks(like, array % 2)
    for index in (0, slice(1, None), (..., 1), (slice(None, None, -1), 2), (None, 0), (-1, -1)):
        assert isinstance(labels[index], Labels)
        assert isinstance(mask[index], Mask)
        np.testing.assert_array_equal(labels[index].to_host(), array[index])
        np.testing.assert_array_equal(mask[index].to_host(), array[index] % 2 == 1)
        assert labels[index].shape == mask[index].shape == array[index].shape


@every_like
def test_labels_and_a_mask_are_reshaped_and_permuted_as_a_tensor_is[T: MlpTensor](like: T) -> None:
    array = np.arange(12).reshape(3, 4)
    mask, labels = masks(like, array % 5), like.labels(array)
    for held, truth in ((mask, array % 5 > 0), (labels, array)):
        np.testing.assert_array_equal(held.reshape((2, -1)).to_host(), truth.reshape(2, -1))
        np.testing.assert_array_equal(held.permute((1, 0)).to_host(), truth.T)
    x = like.from_host(np.ones((3, 2, 4)))
    along = x.where(mask.reshape((3, 1, 4)), 0.0)
    np.testing.assert_array_equal(along.to_host(), np.broadcast_to((array % 5 > 0)[:, None], (3, 2, 4)))


def test_labels_and_masks_move_to_another_interpreter_by_map() -> None:
    plain = numpy().from_host(np.array([[1.0, 3.0], [5.0, 2.0]]))
    labels, mask = plain.argmax(1), plain > 2.0
    x = variable(plain)
    np.testing.assert_array_equal(x.pick(labels.map(constant)).to_host(), [3.0, 5.0])
    np.testing.assert_array_equal(x.where(mask.map(constant), 0.0).to_host(), [[0.0, 3.0], [5.0, 0.0]])
    np.testing.assert_array_equal(labels.map(constant).map(lambda carrier: carrier.value).to_host(), [1, 0])


@every_like
@given(a=booleans, b=booleans)
def test_masks_combine_as_booleans_do[T: MlpTensor](like: T, a: Any, b: Any) -> None:
    left, right = masks(like, a), masks(like, b)
    np.testing.assert_array_equal((left & right).to_host(), a & b)
    np.testing.assert_array_equal((left | right).to_host(), a | b)
    np.testing.assert_array_equal((~left).to_host(), ~a)
    np.testing.assert_array_equal((~(left & ~right)).to_host(), ~(a & ~b))
    np.testing.assert_array_equal((left & right[0]).to_host(), a & b[0])
    np.testing.assert_array_equal((left[:, :1] | right).to_host(), a[:, :1] | b)
    for mask in left & right, left | right, ~left:
        assert isinstance(mask, Mask)
        assert mask.to_host().dtype == np.bool_
        assert mask.shape == (2, 3)


@every_like
def test_a_mask_selects[T: MlpTensor](like: T) -> None:
    x, y = like.from_host(np.array([1.0, 2.0, 3.0])), like.from_host(np.array([[10.0], [20.0]]))
    mask = masks(like, [1, 0, 1])
    np.testing.assert_array_equal(mask.select(x, y).to_host(), [[1, 10, 3], [1, 20, 3]])
    np.testing.assert_array_equal(mask.select(x, -1.0).to_host(), [1, -1, 3])
    assert mask.select(x, -1.0).dtype is like.dtype


@every_like
def test_a_mask_becomes_ones_and_zeros_of_the_element_type_asked_for[T: MlpTensor](like: T) -> None:
    tensor = masks(like, [[1, 0], [0, 0]]).to_tensor(like)
    assert type(tensor) is type(like)
    assert tensor.dtype is like.dtype
    np.testing.assert_array_equal(tensor.to_host(), [[1.0, 0.0], [0.0, 0.0]])


@every_like
def test_a_mask_is_not_one_truth[T: MlpTensor](like: T) -> None:
    with pytest.raises(OperandError) as raised:
        bool(like <= 0.0)
    assert str(raised.value) == (
        "bool(Mask): the truth of a mask is not one value: read one element with .to_host(), "
        "or stay on the device with .select(on, off) and .to_tensor(like)"
    )


def test_labels_and_masks_have_no_double_equals() -> None:
    x = numpy().ones((2,))
    labels, mask = x.labels(np.array([1, 2])), x > 0.0
    with pytest.raises(OperandError) as raised:
        bool(labels == labels)
    assert str(raised.value) == (
        "Labels == Labels: == must give one bool and labels are many: use x.equal(y) for a mask, "
        "or compare x.to_host() with NumPy"
    )
    with pytest.raises(OperandError) as raised:
        bool(mask != mask)
    assert str(raised.value) == (
        "Mask == Mask: == must give one bool and a mask has many: combine masks with &, |, ~, "
        "or compare x.to_host() with NumPy"
    )
    assert len({labels, mask, labels}) == 2


def test_a_mask_under_differentiation_is_a_constant() -> None:
    x = variable(numpy(F64).ones((2, 2)))
    for mask in x > 0.0, ~(x > 0.0), (x > 0.0) & (x < 1.0), (x > 0.0) | (x < 1.0), (x > 0.0)[0]:
        assert mask.carrier.parents is None
    assert x.argmax(0).carrier.parents is None
    assert x.labels(np.array([1]))[0].carrier.parents is None


@every_like
def test_labels_and_masks_have_an_element_type_so_that_annotations_state_their_shape[T: MlpTensor](like: T) -> None:
    labels, mask = like.labels(np.zeros((2, 3), int)), like.zeros((2, 3)) > 0.0
    assert labels.dtype is I64
    assert mask.dtype is Bool
    integers: Any = jaxtyping.Int
    truths: Any = jaxtyping.Bool
    assert isinstance(labels, integers[Labels, "a 3"])
    assert isinstance(mask, truths[Mask, "a 3"])
    assert not isinstance(labels, integers[Labels, "a 4"])
    assert not isinstance(labels, truths[Labels, "a 3"])
    assert not isinstance(mask, truths[Mask, "3"])
