"""What ``backward()`` takes and gives: seeds, the three states, the gradients of intermediate results."""

import numpy as np
import pytest

from moonxi.autodiff import BlasGrad, Gradients, Untracked, Value, Zero, constant, variable
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F64
from moonxi.errors import GradientError, ShapeError

cpu = numpy(F64)
X = cpu.from_host(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))


def test_a_variable_that_the_result_depends_on_has_a_value() -> None:
    x = variable(X)
    gradients = (x * x).sum().backward()
    match gradients.state(x):
        case Value(gradient):
            np.testing.assert_array_equal(gradient.to_host(), 2.0 * X.to_host())
        case state:
            pytest.fail(f"{state}")
    np.testing.assert_array_equal(gradients.of(x).to_host(), 2.0 * X.to_host())


def test_a_variable_that_the_result_does_not_depend_on_is_zero_and_stores_no_zeros() -> None:
    x, y = variable(X), variable(X[0])
    gradients = x.sum().backward()
    assert gradients.state(y) == Zero()
    np.testing.assert_array_equal(gradients.of(y).to_host(), np.zeros(3))
    assert gradients.of(y).dtype is F64


def test_a_constant_is_untracked_and_has_no_gradient() -> None:
    x, c = variable(X), constant(X)
    gradients = (x * c).sum().backward()
    assert gradients.state(c) == Untracked()
    with pytest.raises(GradientError) as raised:
        gradients.of(c)
    assert str(raised.value) == ("gradients: constant (2, 3): a constant has no gradient; make it with variable(x)")


def test_a_gradient_of_zero_is_a_value_not_the_state_zero() -> None:
    x = variable(X)
    state = (x * 0.0).sum().backward().state(x)
    assert isinstance(state, Value)
    np.testing.assert_array_equal(state.gradient.to_host(), np.zeros((2, 3)))


def test_the_result_of_a_variable_alone_is_its_own_gradient() -> None:
    x = variable(cpu.full((), 3.0))
    assert x.backward().of(x).item() == 1.0


def test_a_result_without_a_variable_has_no_backward() -> None:
    with pytest.raises(GradientError) as raised:
        BlasGrad.constant(X).sum().backward()
    assert str(raised.value) == (
        "backward: BlasGrad[NpArray[F64]] (): a constant depends on no variable; make the parameters with variable(x) "
        "and compute the loss from them"
    )


def test_a_result_of_many_numbers_needs_a_seed() -> None:
    with pytest.raises(GradientError) as raised:
        variable(X).exp().backward()
    assert str(raised.value) == (
        "backward: (2, 3): a result that is not one number needs a seed of its shape; reduce it with .sum() or "
        ".mean(), or pass backward(seed)"
    )
    with pytest.raises(GradientError, match=r"backward: \(0, 3\): a result that is not one number"):
        variable(X[:0]).exp().backward()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_number_needs_no_seed_whatever_its_rank(shape: tuple[int, ...]) -> None:
    x = variable(cpu.full(shape, 3.0))
    gradient = (x * x).backward().of(x)
    assert gradient.shape == shape
    assert gradient.item() == 6.0


def test_a_seed_weighs_the_elements_of_the_result() -> None:
    x = variable(X)
    seed = cpu.from_host(np.array([[1.0, 0.0, -2.0], [0.5, 3.0, 0.0]]))
    np.testing.assert_array_equal((x * x).backward(seed).of(x).to_host(), 2.0 * X.to_host() * seed.to_host())


@pytest.mark.parametrize("shape", [(), (3,), (2, 1), (3, 2)])
def test_a_seed_has_exactly_the_shape_of_the_result(shape: tuple[int, ...]) -> None:
    shown = {(): "()", (3,): "(3,)", (2, 1): "(2, 1)", (3, 2): "(3, 2)"}[shape]
    with pytest.raises(ShapeError) as raised:
        variable(X).backward(cpu.ones(shape))
    assert str(raised.value) == (
        f"backward (result and seed): (2, 3) and {shown}: the shapes must be equal; reshape one of them if you mean it"
    )


def test_the_gradient_of_an_intermediate_result_is_kept_on_demand() -> None:
    x = variable(X)
    hidden = x * 3.0
    loss = hidden.square().sum()
    with pytest.raises(GradientError) as raised:
        loss.backward().state(hidden)
    assert str(raised.value) == (
        "gradients: intermediate result (2, 3): the gradients of intermediate results are not kept; name the tensor "
        "in backward(keep=(tensor,))"
    )
    gradients = loss.backward(keep=(hidden, loss))
    np.testing.assert_array_equal(gradients.of(hidden).to_host(), 6.0 * X.to_host())
    np.testing.assert_array_equal(gradients.of(x).to_host(), 18.0 * X.to_host())
    assert gradients.of(loss).item() == 1.0


def test_what_is_kept_has_its_whole_gradient_when_it_is_used_twice() -> None:
    x = variable(X)
    hidden = x + 1.0
    gradients = (hidden.sum() + (hidden * hidden).sum()).backward(keep=(hidden,))
    np.testing.assert_array_equal(gradients.of(hidden).to_host(), 1.0 + 2.0 * (X.to_host() + 1.0))


def test_an_intermediate_result_beside_the_path_is_zero_when_kept() -> None:
    x = variable(X)
    beside = x * 2.0
    gradients = x.sum().backward(keep=(beside,))
    assert gradients.state(beside) == Zero()
    assert gradients.state(x) != Zero()


def test_a_tensor_made_after_backward_is_never_taken_for_an_earlier_one() -> None:
    def gradients_of_a_variable_nobody_holds() -> Gradients[NpArray[F64]]:
        x = variable(X)
        return (x * x).sum().backward()

    gradients = gradients_of_a_variable_nobody_holds()
    fresh = [variable(X) for _ in range(1000)]
    assert all(gradients.state(x) == Zero() for x in fresh)


def test_gradients_have_the_class_shape_and_element_type_of_the_values() -> None:
    class Mine(NpArray[F64]):
        __slots__ = ()

    x = variable(Mine(np.ones((2, 1))))
    y = variable(Mine(np.ones(3)))
    gradients = ((x * y).tanh() @ (x * y).tanh().transpose()).sum().backward()
    for v in x, y:
        assert type(gradients.of(v)) is Mine
        assert gradients.of(v).shape == v.shape
        assert gradients.of(v).dtype is F64
