"""The members of the traits that do not fit the table."""

from math import cos, log1p, pi, sin, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.autodiff import variable
from moonxi.dtypes import F32, HostArray
from moonxi.errors import OperandError
from moonxi.key import Key, philox
from moonxi.traits import ImageModelTensor, Shape
from tests.conformance.backends import INTERPRETERS
from tests.conformance.draws import shapes
from tests.conformance.suite import Suite

every_interpreter = pytest.mark.parametrize("suite", INTERPRETERS)
keys = st.builds(Key, st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))


def words(count: int, key: Key) -> list[int]:
    """The first words of a key by the definition: Philox of the counters 1, 2, 3, ..."""
    blocks = [philox((number, 0, 0, 0), (key.low, key.high)) for number in range(1, 1 + (count + 3) // 4)]
    return [word for block in blocks for word in block][:count]


@every_interpreter
@given(shape=shapes(), key=keys)
def test_uniform_numbers_are_the_words_of_the_key[T: ImageModelTensor](suite: Suite[T], shape: Shape, key: Key) -> None:
    found = suite.like.uniform(shape, key)
    count = int(np.prod(shape))
    if suite.like.dtype is F32:
        halves = [half for word in words((count + 1) // 2, key) for half in (word & 0xFFFF_FFFF, word >> 32)]
        expected = [(half >> 8) * 2.0**-24 for half in halves[:count]]
    else:
        expected = [(word >> 11) * 2.0**-53 for word in words(count, key)]
    assert type(found) is type(suite.like)
    assert found.dtype is suite.like.dtype
    np.testing.assert_array_equal(found.to_host(), np.array(expected).reshape(shape))
    lifted = variable(suite.like).uniform(shape, key)
    assert lifted.parents is None
    np.testing.assert_array_equal(lifted.to_host(), found.to_host())


@every_interpreter
@given(shape=shapes(), key=keys)
def test_normal_numbers_are_box_and_muller_of_the_words_of_the_key[T: ImageModelTensor](
    suite: Suite[T], shape: Shape, key: Key
) -> None:
    found = suite.like.normal(shape, key)
    count = int(np.prod(shape))
    flat = [(word >> 11) * 2.0**-53 for word in words(count + count % 2, key)]
    expected: list[float] = []
    for u, v in zip(flat[::2], flat[1::2], strict=True):
        radius = sqrt(-2.0 * log1p(-u))
        expected += [radius * cos(2.0 * pi * v), radius * sin(2.0 * pi * v)]
    assert type(found) is type(suite.like)
    assert found.dtype is suite.like.dtype
    rounding = 10.0 * suite.rounding
    np.testing.assert_allclose(found.to_host(), np.reshape(expected[:count], shape), rtol=rounding, atol=rounding)
    assert variable(suite.like).normal(shape, key).parents is None


@every_interpreter
def test_uniform_and_normal_numbers_have_their_moments[T: ImageModelTensor](suite: Suite[T]) -> None:
    uniform = suite.like.uniform((100_000,), Key(1)).to_host().astype(np.float64)
    assert uniform.min() >= 0.0
    assert uniform.max() < 1.0
    assert abs(uniform.mean() - 0.5) < 0.004
    assert abs(uniform.var() - 1 / 12) < 0.002
    normal = suite.like.normal((100_000,), Key(2)).to_host().astype(np.float64)
    assert abs(normal.mean()) < 0.014
    assert abs(normal.var() - 1.0) < 0.02
    assert abs((normal**3).mean()) < 0.04
    assert abs((normal**4).mean() - 3.0) < 0.14


@every_interpreter
def test_the_element_type_is_a_class_and_stays[T: ImageModelTensor](suite: Suite[T]) -> None:
    dtype = suite.like.dtype
    x = suite.like.from_host(np.arange(6).reshape(2, 3))
    assert x.dtype is variable(x).dtype is variable(variable(x)).dtype is dtype
    assert x.to_host().dtype == np.dtype(dtype.type)
    assert x.to_host().dtype.itemsize == dtype.itemsize


@every_interpreter
@pytest.mark.parametrize("number", [2, 2.5, -1, True, 1e-3, np.float64(0.1), 2**40])
def test_a_python_number_never_changes_the_element_type[T: ImageModelTensor](suite: Suite[T], number: float) -> None:
    dtype = suite.like.dtype
    for shape in (), (1,), (2, 3):
        x = suite.like.full(shape, 0.5)
        for result in (
            x + number,
            number + x,
            x - number,
            number - x,
            x * number,
            number * x,
            x / number,
            number / x,
            (x * 1e-9) ** number if number < 10 else x,
            abs(number) ** x,
            x.maximum(number),
            x.where(x > number, number),
            x.mean() * number,
        ):
            assert result.dtype is dtype
            assert result.to_host().dtype == np.dtype(dtype.type)
        gradient = (variable(x) * number + number).sum()
        assert gradient.dtype is dtype


@every_interpreter
def test_a_tensor_is_not_a_truth[T: ImageModelTensor](suite: Suite[T]) -> None:
    _is_not_a_truth(suite.like)
    _is_not_a_truth(variable(suite.like))


def _is_not_a_truth[T: ImageModelTensor](x: T) -> None:
    with pytest.raises(OperandError) as error:
        bool(x)
    assert str(error.value) == (
        f"bool({type(x).__name__}): a tensor is not one truth: use mask.select(a, b) to choose on the device, "
        "or x.item() to read a single number"
    )


@every_interpreter
def test_a_tensor_equals_nothing_and_is_unlike_nothing[T: ImageModelTensor](suite: Suite[T]) -> None:
    name = type(suite.like).__name__
    expected = (
        f"{name} == {name}: == must give one bool and a tensor has many elements: "
        "use x.equal(y) for a mask, or compare x.to_host() with NumPy"
    )
    with pytest.raises(OperandError) as error:
        bool(suite.like == suite.like)
    assert str(error.value) == expected
    with pytest.raises(OperandError) as error:
        bool(suite.like != suite.like)
    assert str(error.value) == expected


@every_interpreter
def test_the_mean_over_nothing_is_nan_and_the_sum_is_zero[T: ImageModelTensor](suite: Suite[T]) -> None:
    x = suite.like.zeros((2, 0, 3))
    assert np.isnan(x.mean(1).to_host()).all()
    assert x.mean(1).shape == (2, 3)
    assert np.isnan(x.mean().item())
    assert x.sum().item() == 0.0


@every_interpreter
def test_a_copy_to_or_from_the_host_shares_nothing[T: ImageModelTensor](suite: Suite[T]) -> None:
    source: HostArray = np.zeros((2, 2), suite.like.dtype.type)
    x = suite.like.from_host(source)
    source[0, 0] = 1.0
    copy = x.to_host()
    copy[1, 1] = 1.0
    assert copy.flags.writeable
    np.testing.assert_array_equal(x.to_host(), np.zeros((2, 2)))


@every_interpreter
def test_values_that_are_not_finite_follow_numpy[T: ImageModelTensor](suite: Suite[T]) -> None:
    _values_that_are_not_finite(suite.like)
    _values_that_are_not_finite(variable(suite.like))


def _values_that_are_not_finite[T: ImageModelTensor](like: T) -> None:
    nan, inf = float("nan"), float("inf")
    array = np.array([nan, inf, -inf, 0.0, -0.0, -1.0])
    x = like.from_host(array)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_array_equal(x.log().to_host(), np.log(array))
        np.testing.assert_array_equal(x.sqrt().to_host(), np.sqrt(array))
        np.testing.assert_array_equal((1.0 / x).to_host(), 1.0 / array)
    np.testing.assert_array_equal(x.exp().to_host()[:3], np.exp(array[:3]))
    np.testing.assert_array_equal(x.relu().to_host(), np.maximum(array, 0.0))
    small = np.array([2.0**-100, -(2.0**-100)])
    np.testing.assert_array_equal(like.from_host(small).relu().to_host(), np.maximum(small, 0.0))
    np.testing.assert_array_equal(x.maximum(-0.5).to_host(), np.maximum(array, -0.5))
    np.testing.assert_array_equal(x.max().to_host(), nan)
    np.testing.assert_array_equal(x[1:].max().to_host(), inf)
    np.testing.assert_array_equal(x.argmax(0).to_host(), 0)
    np.testing.assert_array_equal((x < 0.0).to_host(), array < 0.0)
    np.testing.assert_array_equal((x >= 0.0).to_host(), array >= 0.0)
    np.testing.assert_array_equal(x.equal(x).to_host(), ~np.isnan(array))


@every_interpreter
def test_softmax_neither_overflows_nor_loses_precision[T: ImageModelTensor](suite: Suite[T]) -> None:
    x = suite.like.from_host(np.array([[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1000.0]]))
    np.testing.assert_allclose(x.softmax(1).to_host(), np.array([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]]), rtol=1e-6)
    np.testing.assert_allclose(x.log_softmax(1).to_host(), np.array([[0, -1000, -2000], [-np.log(3)] * 3]), rtol=1e-6)
    small = suite.like.from_host(np.array([0.0, 20.0]))
    np.testing.assert_allclose(small.log_softmax(0).to_host()[1], -np.log1p(np.exp(-20.0)), rtol=0.02, atol=1e-7)


@every_interpreter
def test_at_a_tie_argmax_takes_the_first[T: ImageModelTensor](suite: Suite[T]) -> None:
    x = suite.like.from_host(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]))
    np.testing.assert_array_equal(x.argmax(-1).to_host(), [1, 0])
    assert x.argmax(-1).to_host().dtype == np.int64
