"""`check_gradients` accepts what is right and names what is wrong. The wrong operations here are wrong on purpose."""

from collections.abc import Callable

import numpy as np
import pytest

from moonxi.autodiff import Grad, check_gradients, variable
from moonxi.backends.numpy import NpArray, numpy
from moonxi.dtypes import F16, F32, F64, DType
from moonxi.errors import GradientError, OperandError
from moonxi.key import Key
from moonxi.traits import MlpTensor

type Plain = Grad[NpArray[F64]]

cpu = numpy(F64)
X = cpu.normal((2, 3), Key(1))
W = cpu.normal((3, 4), Key(2))
B = cpu.normal((4,), Key(3))
BLAME = (
    "is to blame: its gradient is wrong, or it has a kink here, or an operand that differentiation does not see "
    "(stop_gradient, .value)"
)
UNSEEN = "the argument goes into no operation that differentiation sees (stop_gradient, .value)"


def layer[T: MlpTensor](x: T, w: T, b: T) -> T:
    return (x @ w + b).tanh().log_softmax(1)


def half_square(x: Plain) -> Plain:
    v = x.value
    return x._unary(v * v, lambda g: g * v)


def message(call: Callable[[], None]) -> str:
    with pytest.raises(GradientError) as raised:
        call()
    return str(raised.value)


def test_a_right_gradient_passes_with_one_to_four_arguments() -> None:
    check_gradients(lambda x: x.exp(), X)
    check_gradients(lambda x, w: x @ w, X, W)
    check_gradients(lambda x, w, b: layer(x, w, b), X, W, B)
    check_gradients(lambda x, w, b, c: layer(x, w, b) / (c * c + 1.0), X, W, B, B)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_generic_function_is_checked_to_any_order(order: int) -> None:
    check_gradients(layer, X, W, B, order=order)


def test_float32_is_checked_with_what_it_can_tell() -> None:
    like = numpy(F32)
    check_gradients(layer, *(like.from_host(v.to_host()) for v in (X, W, B)), order=2)
    with pytest.raises(GradientError, match=r"Grad.__mul__ of \(2, 3\) is to blame"):
        check_gradients(lambda x: x * x.stop_gradient(), like.from_host(X.to_host()))


def test_scalars_empty_tensors_and_results_without_axes_are_checked() -> None:
    check_gradients(lambda x: x * x, cpu.full((), 3.0))
    check_gradients(lambda x: x * x, cpu.zeros((0, 2)))
    check_gradients(lambda x: (x * x).sum(), X)


def test_an_argument_that_the_result_does_not_depend_on_has_a_zero_gradient() -> None:
    check_gradients(lambda x, y: x * x, X, W)
    check_gradients(lambda x: x.full((2,), 1.0), X)


def test_the_report_names_argument_index_expected_found_and_operation() -> None:
    def f(x: Plain, y: Plain) -> Plain:
        return (x.exp() + half_square(y)).sum()

    y = cpu.from_host(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]]))
    assert message(lambda: check_gradients(f, X, y)) == (
        "check_gradients: argument 2 (y) (2, 3), index (1, 2): expected 6 (central difference), found 3 (backward); "
        f"1 of 6 elements are wrong; half_square of (2, 3) {BLAME}"
    )


def test_the_worst_element_is_reported() -> None:
    def f(x: Plain) -> Plain:
        return half_square(x).sum()

    x = cpu.from_host(np.array([1.0, -5.0, 2.0]))
    text = "argument 1 (x) (3,), index (1,): expected -10 (central difference), found -5 (backward); 3 of 3 elements"
    assert text in message(lambda: check_gradients(f, x))


def test_the_first_wrong_operation_among_many_right_ones_is_named() -> None:
    def f(x: Plain) -> Plain:
        hidden: Plain = (x.tanh() * 2.0 + 1.0).exp() / 3.0
        for _ in range(20):
            hidden = (hidden * 1.1).tanh() + x
        return (half_square(hidden) - x).softmax(1).log()

    assert "half_square of (2, 3) is to blame" in message(lambda: check_gradients(f, X))


def test_a_wrong_gradient_for_one_operand_of_two_is_found() -> None:
    def product(x: Plain, y: Plain) -> Plain:
        a, b = x.value, y.value
        return x._binary(y, a * b, lambda g: g * b, lambda g: g * b)

    text = message(lambda: check_gradients(product, X, X + 1.0))
    assert text.startswith("check_gradients: argument 2 (y) (2, 3)")
    assert "product of (2, 3) and (2, 3) is to blame" in text


def test_a_broadcasting_operand_is_seen_through() -> None:
    def product(x: Plain, y: Plain) -> Plain:
        a, b = x.value, y.value
        return x._binary(y, a * b, lambda g: g * b, lambda g: g * a * 2.0)

    assert f"product of (2, 3) and (1, 3) {BLAME}" in message(lambda: check_gradients(product, X, X[:1]))


def test_a_gradient_of_the_wrong_shape_is_reported() -> None:
    def total(x: Plain) -> Plain:
        return x._unary(x.value.sum(), lambda g: g)

    assert message(lambda: check_gradients(total, X)) == (
        f"check_gradients: argument 1 (x) (2, 3): the gradient has shape (); total of (2, 3) {BLAME}"
    )


def test_a_gradient_right_in_itself_but_not_differentiable_fails_at_the_second_order() -> None:
    def cube(x: Plain) -> Plain:
        v = x.value
        return x._unary(v * v * v, lambda g: g * (v * v * 3.0).stop_gradient())

    def f(x: Plain) -> Plain:
        return cube(x * 2.0)

    check_gradients(f, X)
    text = message(lambda: check_gradients(f, X, order=2))
    assert text.startswith("check_gradients (derivative 2): argument 1 (x) (2, 3), index (")
    assert text.endswith(BLAME)


def test_a_linear_operation_that_cuts_the_gradient_it_gets_fails_at_the_second_order() -> None:
    def double(x: Plain) -> Plain:
        return x._unary(x.value * 2.0, lambda g: g.stop_gradient() * 2.0)

    check_gradients(double, X)
    text = message(lambda: check_gradients(double, X, order=2))
    assert text.startswith("check_gradients (derivative 2): argument 1 (x) (2, 3), index (")


def test_a_wrong_second_derivative_is_blamed_on_its_operation() -> None:
    def wrong_tanh(x: Plain) -> Plain:
        t = x.value.tanh()
        return x._unary(t, lambda g: g * (1.0 - t * t.stop_gradient()))

    check_gradients(wrong_tanh, X)
    text = message(lambda: check_gradients(wrong_tanh, X, order=2))
    assert text.startswith("check_gradients (derivative 2): ")
    assert f"Grad.__mul__ of (2, 3) {BLAME}" in text


def test_stop_gradient_is_a_difference_between_value_and_gradient() -> None:
    text = message(lambda: check_gradients(lambda x: x * x.stop_gradient(), X))
    assert f"Grad.__mul__ of (2, 3) {BLAME}" in text
    assert message(lambda: check_gradients(lambda x: variable(x.value) * 2.0, X)).endswith(UNSEEN)


def test_a_kink_is_reported() -> None:
    assert f"Grad.relu of (2,) {BLAME}" in message(lambda: check_gradients(lambda x: x.relu(), cpu.zeros((2,))))


def test_a_gradient_that_is_not_a_number_is_wrong() -> None:
    def f(x: Plain) -> Plain:
        return x._unary(x.value, lambda g: g * float("nan"))

    text = message(lambda: check_gradients(f, X))
    assert "found nan (backward); 6 of 6 elements are wrong" in text
    assert f"f of (2, 3) {BLAME}" in text


def test_an_element_that_is_not_a_number_is_the_worst() -> None:
    weights = cpu.from_host(np.array([1.5, float("nan"), 1.0]))

    def f(x: Plain) -> Plain:
        return x._unary(x.value, lambda g: g * weights)

    text = message(lambda: check_gradients(f, cpu.ones((3,))))
    assert "index (1,): expected" in text
    assert "found nan (backward); 2 of 3 elements are wrong" in text


def test_a_function_that_changes_its_operations_is_reported_as_such() -> None:
    calls = []

    def f(x: Plain) -> Plain:
        calls.append(x)
        return half_square(x if len(calls) % 2 else x * 1.0)

    text = "the operations that it records change with the inputs, so no single one can be blamed"
    assert message(lambda: check_gradients(f, X)).endswith(text)


def test_step_tolerance_and_key_are_options() -> None:
    def slightly_wrong(x: Plain) -> Plain:
        return x._unary(x.value * 2.0, lambda g: g * 2.001)

    check_gradients(slightly_wrong, X, tolerance=0.01)
    with pytest.raises(GradientError):
        check_gradients(slightly_wrong, X)
    check_gradients(lambda x: x**3, X, step=1e-4, key=Key(7))
    with pytest.raises(GradientError, match="central difference"):
        check_gradients(lambda x: x**3, X, step=0.1)


def test_elements_large_and_small_are_checked() -> None:
    check_gradients(lambda x: x.log(), cpu.from_host(np.array([1e-2, 1.0, 1e6])), step=1e-7)
    check_gradients(lambda x: x * x * 1e-3, cpu.from_host(np.array([1e5, -1e4])))


def test_an_element_type_too_coarse_is_refused() -> None:
    class Half(NpArray[F16]):
        @property
        def dtype(self) -> type[DType]:
            return F16

    with pytest.raises(OperandError) as raised:
        check_gradients(lambda x: x, Half(np.zeros(2, np.float32)))
    assert str(raised.value) == "check_gradients: inputs of F16: central differences need F64, or F32 at least"


def test_a_function_that_leaves_differentiation_is_refused() -> None:
    with pytest.raises(OperandError) as raised:
        check_gradients(lambda x: x.value, X)  # type: ignore[arg-type, return-value]
    assert str(raised.value) == (
        "check_gradients: the function gave NpArray: expected a tensor under differentiation, "
        "computed from its arguments"
    )


def test_no_inputs_are_refused() -> None:
    with pytest.raises(OperandError, match="check_gradients: no inputs"):
        check_gradients(layer)  # type: ignore[call-arg]


def test_a_callable_without_a_signature_has_numbered_arguments() -> None:
    class Nameless:
        __signature__ = "none"

        def __call__(self, x: Plain, /) -> Plain:
            return half_square(x)

    assert message(lambda: check_gradients(Nameless(), X)).startswith("check_gradients: argument 1 (2, 3), index")
