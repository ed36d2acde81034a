"""Differentiation of differentiation, to any depth."""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from moonxi.autodiff import Grad, constant, variable
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F64
from moonxi.key import Key
from moonxi.traits import MlpTensor

cpu = numpy(F64)


def derivative[T: MlpTensor](f: Callable[[Grad[T]], Grad[T]], x: T) -> T:
    """The derivative of a function at a point, at the level of the point."""
    v = variable(x)
    return f(v).backward().of(v)


def scalar(value: float) -> NpArray[F64]:
    return cpu.full((), value)


def test_the_third_derivative_by_three_levels() -> None:
    def first[T: MlpTensor](x: T) -> T:
        return derivative(lambda y: y.exp() * y * y, x)

    def second[T: MlpTensor](x: T) -> T:
        v = variable(x)
        return first(v).backward().of(v)

    def third[T: MlpTensor](x: T) -> T:
        v = variable(x)
        return second(v).backward().of(v)

    x = 0.7
    expected = np.exp(x) * (x * x + 6.0 * x + 6.0)
    assert abs(third(scalar(x)).item() - expected) < 1e-13


def test_three_levels_of_tanh() -> None:
    x = variable(variable(variable(scalar(0.4))))
    first = x.tanh().backward().of(x)
    second = first.backward().of(x.value)
    third = second.backward().of(x.value.value)
    t = np.tanh(0.4)
    s = 1.0 - t * t
    assert abs(first.item() - s) < 1e-15
    assert abs(second.item() + 2.0 * t * s) < 1e-15
    assert abs(third.item() - (-2.0 * s * s + 4.0 * t * t * s)) < 1e-14


def test_perturbations_are_not_confused() -> None:
    """d/dx (x * d/dy (x + y)) is 1, not 2 (Siskind and Pearlmutter 2005)."""
    x = variable(scalar(1.0))
    y = variable(x)
    inner = (constant(x) + y).backward().of(y)
    assert (x * inner).backward().of(x).item() == 1.0


def test_a_variable_of_the_outer_level_is_differentiated_through_the_inner_one() -> None:
    """d/dx (x * d/dy (x * y)) at y = x: the inner derivative is x, so the outer is 2 x."""
    x = variable(scalar(3.0))
    y = variable(x)
    inner = (constant(x) * y).backward().of(y)
    assert (x * inner).backward().of(x).item() == 6.0


def energy[T: MlpTensor](x: T, w: T) -> T:
    hidden = (x @ w).tanh()
    return (hidden * hidden).mean() + hidden.log_softmax(1).exp().square().sum() + (x.exp() / (x.square() + 1.0)).sum()


def test_a_hessian_vector_product_is_the_difference_of_gradients() -> None:
    x, w, v = cpu.normal((3, 4), Key(0)), cpu.normal((4, 5), Key(1)), cpu.normal((3, 4), Key(2))

    def gradient[T: MlpTensor](x: T, w: T) -> T:
        z = variable(x)
        return energy(z, constant(w)).backward().of(z)

    z = variable(x)
    product = (gradient(z, constant(w)) * constant(v)).sum().backward().of(z).to_host()
    h = 1e-6
    difference = (gradient(x + v * h, w) - gradient(x - v * h, w)).to_host() / (2.0 * h)
    np.testing.assert_allclose(product, difference, rtol=1e-7, atol=1e-8)


def test_the_hessian_is_symmetric() -> None:
    x, w = cpu.normal((2, 3), Key(0)), cpu.normal((3, 4), Key(1))
    z = variable(x)
    y = variable(z)
    gradient = energy(y, constant(constant(w))).backward().of(y)
    rows = [gradient[i, j].backward().of(z).to_host().reshape(-1) for i in range(2) for j in range(3)]
    hessian = np.stack(rows)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-14)
    assert np.abs(hessian).max() > 0.01


@given(st.floats(-1.5, 1.5), st.integers(1, 5))
def test_the_nth_derivative_of_exp_is_exp(x: float, depth: int) -> None:
    def nth[T: MlpTensor](value: T, n: int) -> T:
        if n == 0:
            return value.exp()
        v = variable(value)
        return nth(v, n - 1).backward().of(v)

    assert nth(scalar(x), depth).item() == np.exp(x)


def test_stop_gradient_is_constant_to_every_level() -> None:
    x = variable(variable(scalar(3.0)))
    y = x * x.stop_gradient()
    assert x.stop_gradient().parents is None
    assert x.stop_gradient().value.parents is None
    first = y.backward().of(x)
    assert first.item() == 3.0
    assert first.parents is None  # 3.0 came from the stopped operand, at both levels
    plain = x * x
    assert plain.backward().of(x).backward().of(x.value).item() == 2.0


def test_the_value_of_a_variable_is_stopped_at_one_level_only() -> None:
    x = variable(variable(scalar(3.0)))
    first = (x * constant(x.value)).backward().of(x)
    assert first.item() == 3.0
    assert first.backward().of(x.value).item() == 1.0


def test_the_levels_keep_their_classes() -> None:
    x = variable(variable(scalar(2.0)))
    first = (x * x * x).backward().of(x)
    assert type(first) is type(x.value)
    assert type(first.backward().of(x.value)) is NpArray
