"""Points where a derivative is a matter of definition, and values that are not finite."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.autodiff import Grad, variable
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F64

cpu = numpy(F64)


def tensor(*values: float) -> NpArray[F64]:
    return cpu.from_host(np.array(values))


def gradient(result: Grad[NpArray[F64]], x: Grad[NpArray[F64]]) -> list[float]:
    return [float(value) for value in result.sum().backward().of(x).to_host()]


def test_the_largest_elements_share_the_gradient_of_max() -> None:
    x = variable(tensor(1.0, 3.0, 3.0, 2.0, 3.0))
    assert gradient(x.max(), x) == [0.0, 1 / 3, 1 / 3, 0.0, 1 / 3]
    ones = variable(cpu.ones((2, 3)))
    np.testing.assert_allclose(ones.max(1).sum().backward().of(ones).to_host(), np.full((2, 3), 1 / 3))
    np.testing.assert_allclose(ones.max().backward().of(ones).to_host(), np.full((2, 3), 1 / 6))


def test_each_operand_of_maximum_gets_half_at_a_tie() -> None:
    x, y = variable(tensor(1.0, 2.0, 3.0)), variable(tensor(2.0, 2.0, 2.0))
    gradients = x.maximum(y).sum().backward()
    np.testing.assert_array_equal(gradients.of(x).to_host(), [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(gradients.of(y).to_host(), [1.0, 0.5, 0.0])
    assert gradient(x.maximum(2.0), x) == [0.0, 0.5, 1.0]


def test_the_derivative_of_relu_at_zero_is_zero() -> None:
    x = variable(tensor(-1.0, -0.0, 0.0, 1e-300, 1.0))
    assert gradient(x.relu(), x) == [0.0, 0.0, 0.0, 1.0, 1.0]


def test_floor_has_the_derivative_zero() -> None:
    x = variable(tensor(0.5, 1.0))
    assert x.floor().parents is None
    assert gradient(x * x.floor(), x) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("exponent", "first", "second"),
    [(0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 0.0, 2.0), (3.0, 0.0, 0.0), (1, 1.0, 0.0), (0, 0.0, 0.0)],
)
def test_a_power_of_zero_is_differentiable(exponent: float, first: float, second: float) -> None:
    for power in exponent, variable(variable(tensor(float(exponent)))):
        x = variable(variable(tensor(0.0)))
        slope = (x**power).sum().backward().of(x)
        assert slope.to_host().tolist() == [first]
        if slope.parents is not None:
            assert slope.sum().backward().of(x.value).to_host().tolist() == [second]
        else:
            assert second == 0.0


def test_the_exponent_of_a_zero_base_has_the_derivative_zero() -> None:
    x, y = variable(tensor(0.0, 0.0, 0.0)), variable(tensor(0.0, 1.0, 2.5))
    assert gradient(x**y, y) == [0.0, 0.0, 0.0]
    assert gradient(0.0**y, y) == [0.0, 0.0, 0.0]


def test_the_root_of_zero_has_an_infinite_derivative() -> None:
    x = variable(tensor(0.0))
    with np.errstate(divide="ignore"):
        assert gradient(x.sqrt(), x) == [inf]
        assert gradient(x**0.5, x) == [inf]


@given(st.floats(0.2, 3.0), st.sampled_from((0.0, 1.0, 2.0, -1.0, 0.5)))
def test_the_mixed_second_derivatives_of_a_power_agree(x: float, y: float) -> None:
    """d2/dxdy x**y is x**(y-1) (1 + y log x), in whichever order; also where y is 0."""
    base, exponent = variable(variable(tensor(x))), variable(variable(tensor(y)))
    gradients = (base**exponent).sum().backward()
    expected = x ** (y - 1.0) * (1.0 + y * np.log(x))
    of_base = gradients.of(base).sum().backward().of(exponent.value).item()
    of_exponent = gradients.of(exponent).sum().backward().of(base.value).item()
    np.testing.assert_allclose([of_base, of_exponent], expected, rtol=1e-12, atol=1e-14)


def test_a_negative_base_with_a_whole_exponent_has_a_gradient() -> None:
    x = variable(tensor(-2.0, -1.0))
    assert gradient(x**3, x) == [12.0, 3.0]
    assert gradient(x ** variable(tensor(3.0, 2.0)).value.to_host()[0].item(), x) == [12.0, 3.0]


def test_where_hides_the_gradient_of_what_it_does_not_take() -> None:
    x = variable(tensor(-1.0, 0.0, 4.0))
    positive = x > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        taken = x.where(positive, 1.0).log()  # the inner where keeps log away from what is not positive
        assert gradient(taken.where(positive, 0.0), x) == [0.0, 0.0, 0.25]
        y = variable(tensor(nan, 1.0, inf))
        assert gradient(x.where(positive, y), x) == [0.0, 0.0, 1.0]
        assert gradient(y.where(positive, x), x) == [1.0, 1.0, 0.0]


def test_a_gradient_that_is_not_a_number_is_dropped_by_where_itself() -> None:
    x = variable(tensor(1.0, 2.0))
    left, right = x * 1.0, x * 2.0
    chosen = left.where(x > 1.5, right)
    gradients = chosen.backward(tensor(nan, 1.0), keep=(left, right))
    np.testing.assert_array_equal(gradients.of(left).to_host(), [0.0, 1.0])
    np.testing.assert_array_equal(gradients.of(right).to_host(), [nan, 0.0])


def test_a_maximum_beside_nan_and_infinity() -> None:
    x = variable(tensor(inf, -inf, 1.0))
    assert gradient(x.maximum(0.0), x) == [1.0, 0.0, 1.0]
    assert gradient(x.max(), x) == [1.0, 0.0, 0.0]


def test_softmax_far_out_has_finite_gradients() -> None:
    x = variable(variable(tensor(1000.0, 0.0, -1000.0)))
    slope = x.log_softmax(0)[1].backward().of(x)
    assert slope.to_host().tolist() == [-1.0, 1.0, 0.0]
    assert np.isfinite(slope[0].backward().of(x.value).to_host()).all()
    probabilities = x.softmax(0)[0].backward().of(x)
    assert probabilities.to_host().tolist() == [0.0, 0.0, 0.0]


def test_empty_tensors_have_empty_gradients() -> None:
    x = variable(cpu.zeros((0, 3)))
    w = variable(cpu.ones((3, 2)))
    gradients = ((x @ w).exp().sum() + x.sum()).backward()
    assert gradients.of(x).shape == (0, 3)
    np.testing.assert_array_equal(gradients.of(w).to_host(), np.zeros((3, 2)))
