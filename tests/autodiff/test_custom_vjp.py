"""`custom_vjp`: a gradient of one's own takes the place of the derived one."""

import numpy as np
import pytest

import moonxi as mx
from moonxi.errors import GradientError, OperandError

cpu = mx.numpy(mx.F64)
x = cpu.from_host(np.array([0.3, -1.2, 2.0]))


def softsign[T: mx.Tensor](x: T) -> T:
    """x / (1 + |x|), whose derivative is 1 / (1 + |x|)**2."""
    return mx.custom_vjp(lambda x: x / (x.abs() + 1.0), lambda g, _, x: g / (x.abs() + 1.0).square(), x)


def product[T: mx.Tensor](x: T, y: T) -> T:
    def backward(g: T, _: T, x: T, y: T) -> tuple[T, T]:
        return (g * y).sum_to(x.shape), (g * x).sum_to(y.shape)

    return mx.custom_vjp(lambda x, y: x * y, backward, x, y)


def blend[T: mx.Tensor](x: T, y: T, t: T) -> T:
    return mx.custom_vjp(
        lambda x, y, t: x + (y - x) * t, lambda g, _, x, y, t: (g * (1.0 - t), g * t, g * (y - x)), x, y, t
    )


def straight_through[T: mx.Tensor](x: T) -> T:
    """Rounded down, with the gradient of what is not rounded (Bengio 2013)."""
    return mx.custom_vjp(lambda x: x.floor(), lambda g, _, x: g, x)


def test_check_gradients_proves_right_ones_to_the_second_order() -> None:
    mx.check_gradients(softsign, x, order=2)
    mx.check_gradients(product, x, cpu.ones((2, 1)) * 0.7, order=2)
    mx.check_gradients(blend, x, x * 2.0, x.sin(), order=2)


def test_check_gradients_finds_a_wrong_one() -> None:
    def wrong[T: mx.Tensor](x: T) -> T:
        return mx.custom_vjp(lambda x: x * x, lambda g, _, x: g * x, x)

    with pytest.raises(GradientError) as caught:
        mx.check_gradients(wrong, x)
    assert str(caught.value).startswith("check_gradients: argument 1 (x) (3,), index (2,): expected ")
    assert "custom_vjp of (3,) is to blame: its gradient is wrong" in str(caught.value)


def test_the_gradient_is_the_given_one() -> None:
    assert mx.grad(lambda x: straight_through(x).sum(), x).to_host().tolist() == [1.0] * 3
    assert straight_through(x).to_host().tolist() == [0.0, -2.0, 2.0]


def test_it_holds_at_every_level() -> None:
    second = mx.hessian(lambda x: (straight_through(x) * x).sum(), x).to_host()
    np.testing.assert_array_equal(second, 2.0 * np.eye(3))
    np.testing.assert_allclose(
        mx.jvp(softsign, x, x)[1].to_host(), x.to_host() / (1.0 + np.abs(x.to_host())) ** 2, rtol=1e-14
    )


def test_it_records_one_node_and_nothing_of_constants() -> None:
    v = mx.variable(x)
    result = softsign(v)
    assert result.parents is not None
    assert [node for node, _ in result.parents] == [v]
    assert softsign(mx.constant(x)).parents is None
    beside = product(mx.constant(x), v)
    np.testing.assert_array_equal(beside.sum().backward().of(v).to_host(), x.to_host())


def test_the_result_and_the_inputs_come_to_backward() -> None:
    def reciprocal[T: mx.Tensor](x: T) -> T:
        return mx.custom_vjp(lambda x: 1.0 / x, lambda g, y, x: -g * y * y, x)

    mx.check_gradients(reciprocal, x, order=2)


def test_a_gradient_of_another_shape_is_refused() -> None:
    def summed[T: mx.Tensor](x: T) -> T:
        return mx.custom_vjp(lambda x: x.sum(), lambda g, y, x: g, x)

    with pytest.raises(
        GradientError,
        match=r"^custom_vjp: the gradient of input 1 has shape \(\), the input \(3,\): the shapes must be equal; undo "
        r"broadcasting with .sum_to\(x.shape\)$",
    ):
        mx.grad(summed, x)


def test_a_gradient_that_is_no_such_tensor_is_refused() -> None:
    v = mx.variable(x)

    def doubled[T: mx.Tensor](x: T) -> T:
        return mx.custom_vjp(lambda x: x * 2.0, lambda g, y, x: v, x)  # type: ignore[arg-type, return-value, tensor-mix]  # the mistake

    with pytest.raises(GradientError, match=r"^custom_vjp: the gradient of input 1 is ImageGrad\[NpArray\[F64\]\], th"):
        mx.grad(lambda x: doubled(x).sum(), x)


def test_as_many_gradients_as_inputs_are_demanded() -> None:
    def added[T: mx.Tensor](x: T, y: T) -> T:
        return mx.custom_vjp(lambda x, y: x + y, lambda g, _, x, y: (g,), x, y)  # type: ignore[arg-type, return-value]

    with pytest.raises(GradientError, match=r"^custom_vjp: 1 gradients for 2 inputs: expected one for each$"):
        mx.grad(lambda x, y: added(x, y).sum(), x, x)


def test_inputs_of_two_levels_are_refused() -> None:
    with pytest.raises(OperandError, match=r"^custom_vjp: ImageGrad\[NpArray\[F64\]\] with NpArray\[F64\]: both oper"):
        product(x, mx.variable(x))  # type: ignore[tensor-mix]  # the mistake
