"""What is particular to `NpArray`: memory, views, classes."""

import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import numpy as np
import pytest

from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F16, F32, F64, I64, Bool
from moonxi.errors import OperandError, ShapeError
from moonxi.key import Key
from moonxi.traits import BlasTensor, MlpTensor, Tensor

cpu = numpy(F64)
X = cpu.from_host(np.arange(12.0).reshape(3, 4))

RESULTS: dict[str, Callable[[NpArray[F64]], Any]] = {
    "itself": lambda x: x,
    "x + y": lambda x: x + x,
    "x + 1": lambda x: x + 1.0,
    "exp": lambda x: x.exp(),
    "sum": lambda x: x.sum(),
    "sum(())": lambda x: x.sum(()),
    "mean": lambda x: x.mean(1),
    "max": lambda x: x.max(0),
    "reshape": lambda x: x.reshape((4, 3)),
    "permute": lambda x: x.permute((1, 0)),
    "broadcast_to": lambda x: x.broadcast_to((2, 3, 4)),
    "sum_to": lambda x: x.sum_to((1, 4)),
    "x[0]": lambda x: x[0],
    "x[0, 0]": lambda x: x[0, 0],
    "x[::-1]": lambda x: x[::-1],
    "put_slice": lambda x: x.put_slice(slice(0, 3), (5, 4)),
    "where": lambda x: x.where(x > 2.0, 0.0),
    "softmax": lambda x: x.softmax(1),
    "matmul": lambda x: x @ x.transpose(),
    "full": lambda x: x.full((2,), 1.0),
    "from_host": lambda x: x.from_host(np.ones(2)),
    "uniform": lambda x: x.uniform((3,), Key(0)),
    "normal": lambda x: x.normal((3,), Key(0)),
    "pick": lambda x: x.pick(x.argmax(1)),
    "put": lambda x: x[:, 0].put(x.argmax(1), 4),
    "one_hot": lambda x: x.one_hot(x.argmax(1), 4),
    "stop_gradient": lambda x: x.stop_gradient(),
    "argmax": lambda x: x.argmax(0).carrier,
    "a mask": lambda x: (x > 0.0).carrier,
    "labels": lambda x: x.labels(np.array([1])).carrier,
}
every_result = pytest.mark.parametrize("call", RESULTS.values(), ids=RESULTS.keys())


@every_result
def test_the_buffer_of_every_result_is_read_only(call: Callable[[NpArray[F64]], NpArray[F64]]) -> None:
    data = call(X).data
    assert type(data) is np.ndarray
    assert not data.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        data[...] = 0


@every_result
def test_a_subclass_stays_itself(call: Callable[[NpArray[F64]], NpArray[F64]]) -> None:
    class Mine(NpArray[F64]):
        __slots__ = ()

    assert type(call(Mine(np.arange(12.0).reshape(3, 4)))) is Mine


def test_the_left_operand_decides_the_class() -> None:
    class Mine(NpArray[F64]):
        __slots__ = ()

    assert type(cpu.ones((2,)) + Mine(np.ones(2))) is NpArray


def test_moving_elements_copies_nothing() -> None:
    for view in X.reshape((4, 3)), X.permute((1, 0)), X.broadcast_to((5, 3, 4)), X[1:, ::2], X.transpose(), X[None, 0]:
        assert np.shares_memory(view.data, X.data)
    assert X.sum_to((3, 4)) is X
    assert X.stop_gradient() is X


def test_the_constructor_wraps_without_a_copy_and_makes_read_only() -> None:
    data = np.ones((2, 2))
    assert NpArray[F64](data).data is data
    assert not data.flags.writeable


def test_from_host_copies_and_rounds_to_the_element_type() -> None:
    source = np.array([1.0 + 2.0**-30, 0.1])
    single = numpy(F32).from_host(source)
    assert single.dtype is F32
    np.testing.assert_array_equal(single.to_host(), source.astype(np.float32))
    assert not np.shares_memory(cpu.from_host(source).data, source)
    assert source.flags.writeable


def test_integers_become_numbers_of_the_element_type() -> None:
    x = numpy(F32).from_host(np.array([[1, 2**24 + 1]]))
    assert x.dtype is F32
    np.testing.assert_array_equal(x.to_host(), [[1.0, 2.0**24]])


def test_the_prototype_is_a_zero_of_the_default_element_type() -> None:
    assert numpy().dtype is F32
    assert numpy(F32).dtype is F32
    assert numpy(F64).dtype is F64
    assert numpy().shape == ()
    assert numpy().item() == 0.0


@pytest.mark.parametrize("dtype", [F16, I64, Bool])
def test_other_element_types_are_refused(dtype: Any) -> None:
    with pytest.raises(OperandError) as raised:
        numpy(dtype)
    assert str(raised.value) == f"numpy: element type {dtype.__name__}: this backend computes in F32 and F64"


def test_float32_and_float64_do_not_mix() -> None:
    with pytest.raises(OperandError) as raised:
        cpu.ones((2,)) + numpy().ones((2,))  # type: ignore[operator]
    assert str(raised.value) == (
        "add: NpArray[F64] with NpArray[F32]: both operands must be NpArray[F64]; convert with x.from_host(y.to_host())"
    )


@pytest.mark.parametrize(
    ("other", "name", "advice"),
    [
        (np.ones(2), "ndarray of float64 (2,)", "; bring the array in with x.from_host(array)"),
        (np.float32(1.0), "float32", "; give a Python number, float(value)"),
        ("text", "str", ""),
    ],
)
def test_an_operand_of_another_kind_is_refused_with_advice(other: Any, name: str, advice: str) -> None:
    with pytest.raises(OperandError) as raised:
        cpu.ones((2,)) * other
    assert str(raised.value) == f"multiply: NpArray[F64] with {name}: both operands must be NpArray[F64]{advice}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros(()), "NpArray[F64] () 0."),
        (np.array([[1.0, 2.5]]), "NpArray[F64] (1, 2) [[1. , 2.5]]"),
        (np.zeros((0, 3)), "NpArray[F64] (0, 3) []"),
        (np.arange(100.0), "NpArray[F64] (100,) [ 0.,  1., ..., 98., 99.]"),
    ],
    ids=["scalar", "matrix", "empty", "long"],
)
def test_a_tensor_shows_class_element_type_shape_and_some_elements(value: Any, text: str) -> None:
    assert repr(NpArray[F64](value)) == text


def test_labels_and_masks_show_their_carrier() -> None:
    assert repr(X.argmax(1)) == "Labels(carrier=NpArray[I64] (3,) [3, 3, 3])"
    assert repr(X[0] > 1.0) == "Mask(carrier=NpArray[Bool] (4,) [False, False,  True,  True])"


@pytest.mark.parametrize("duplicate", [copy, deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_tensor_is_copied_and_pickled_as_itself(duplicate: Callable[[NpArray[F64]], NpArray[F64]]) -> None:
    for x in X, X.permute((1, 0)), X.broadcast_to((2, 3, 4)), cpu, X[:0]:
        again = duplicate(x)
        assert type(again) is NpArray
        assert not again.data.flags.writeable
        np.testing.assert_array_equal(again.data, x.data)
        assert again.dtype is x.dtype


def test_nothing_can_be_added_to_a_tensor() -> None:
    with pytest.raises(AttributeError):
        X.name = "x"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        X.shape = (4, 3)  # type: ignore[misc]


def test_the_backend_has_the_traits_at_run_time() -> None:
    for trait in Tensor, BlasTensor, MlpTensor:
        assert isinstance(X, trait)
    assert not isinstance(np.ones(2), Tensor)


def test_warnings_follow_numpys_own_switch() -> None:
    zero = cpu.zeros((1,))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        zero.log()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        zero.log()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: x.zeros((2**70,)), r"^full: \(1180591620717411303424,\): Maximum allowed dimension exceeded$"),
        (lambda x: x.ones((2**40, 2**40)), r"^full: \(1099511627776, 1099511627776\): array is too big"),
        (lambda x: x.uniform((2**70,), Key(0)), r"^uniform: \(1180591620717411303424,\): "),
        (lambda x: x.normal((2**40, 2**40), Key(0)), r"^normal: \(1099511627776, 1099511627776\): "),
        (lambda x: x.broadcast_to((2**70, 1)), r"^broadcast_to: \(1,\) to \(1180591620717411303424, 1\): "),
    ],
)
def test_a_shape_larger_than_any_array_is_a_shape_error(make: Callable[[Any], object], text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make(numpy().ones((1,)))
