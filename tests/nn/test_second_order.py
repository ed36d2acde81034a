"""value_and_grad within value_and_grad."""

from typing import Any

import pytest

import moonxi as mx
from moonxi.errors import GradientError
from tests.nn.models import CPU, Array, Mlp, Pair, numbers
from tests.nn.test_value_and_grad import POINTS, Points, check_against_differences, network, product, squared_error


def penalised[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: mx.Mode) -> T:
    """The loss and the squared norm of its own gradient."""
    value, gradients = mx.value_and_grad(squared_error, model, batch, mode)
    norm = value.zeros(())
    for gradient in gradients.parameters():
        norm = norm + gradient.square().sum()
    return value + norm * 0.1


def trained_one_step[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: mx.Mode) -> T:
    """The loss after a step of the optimizer, as in meta-learning."""
    optimizer = mx.Sgd(lr=0.1, momentum=0.9, weight_decay=0.01, clip_norm=100.0)
    _, gradients = mx.value_and_grad(squared_error, model, batch, mode)
    after, _ = optimizer.update(model, gradients, optimizer.init(model))
    return squared_error(after, batch, mode)


def test_a_gradient_penalty_has_the_gradient_of_central_differences() -> None:
    model = network()
    value, gradients = mx.value_and_grad(penalised, model, POINTS, mx.Eval())
    assert type(value) is mx.NpArray
    assert value.item() == pytest.approx(penalised(model, POINTS, mx.Eval()).item(), rel=1e-14)
    check_against_differences(model, lambda m: penalised(m, POINTS, mx.Eval()).item(), gradients, rel=1e-5)


def test_the_loss_after_a_step_has_the_gradient_of_central_differences() -> None:
    model = network()
    _, gradients = mx.value_and_grad(trained_one_step, model, POINTS, mx.Eval())
    check_against_differences(model, lambda m: trained_one_step(m, POINTS, mx.Eval()).item(), gradients, rel=1e-5)


def test_the_third_derivative_of_a_power() -> None:
    def cube[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        return (model.first**4.0).sum()

    def slope[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        _, gradients = mx.value_and_grad(cube, model, batch, mode)
        return gradients.first.sum()

    def curvature[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        _, gradients = mx.value_and_grad(slope, model, batch, mode)
        return gradients.first.sum()

    model = Pair(CPU.full((2,), 3.0), CPU.ones(()))
    value, gradients = mx.value_and_grad(curvature, model, POINTS, mx.Eval())
    assert value.item() == pytest.approx(2 * 12.0 * 3.0**2)
    assert gradients.first.to_host() == pytest.approx(24.0 * 3.0)


def test_the_levels_are_not_confused() -> None:
    """d/dx of x * d/dy (x + y) is 1, for the inner derivative does not depend on x."""

    def outer[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        x = model.first

        def inner[U: mx.Tensor](other: Pair[U], points: Points[U], mode: mx.Mode) -> U:
            return points.x + other.second

        _, gradients = mx.value_and_grad(inner, Pair(x, x), Points(x, x), mode)
        return x * gradients.second

    _, gradients = mx.value_and_grad(outer, Pair(CPU.full((), 5.0), CPU.ones(())), POINTS, mx.Eval())
    assert gradients.first.item() == 1.0


def test_a_loss_of_the_outer_level_is_refused_by_the_inner_one() -> None:
    def outer(model: Any, batch: Any, mode: mx.Mode) -> Any:
        wrong: Any = lambda lifted, points, mode: product(model, batch, mode)  # noqa: E731
        return mx.value_and_grad(wrong, model, batch, mode)[0]

    text = (
        r"^value_and_grad: the loss is (\w*Grad)\[NpArray\], and the parameters are \1\[\1\[NpArray\]\]: compute it "
        r"from the model and the batch that the loss function gets"
    )
    with pytest.raises(GradientError, match=text):
        mx.value_and_grad(outer, Pair(numbers(2), numbers(2)), POINTS, mx.Eval())


def test_plain_models_pass_through_an_outer_differentiation_unchanged() -> None:
    def outer[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        value, _ = mx.value_and_grad(product, plain, POINTS, mode)
        assert type(value) is mx.NpArray
        return model.first.sum() * value.item()

    plain: Pair[Array] = Pair(CPU.full((2,), 3.0), CPU.full((2,), 2.0))
    _, gradients = mx.value_and_grad(outer, Pair(numbers(2), numbers(2)), POINTS, mx.Eval())
    assert gradients.first.to_host().tolist() == [12.0, 12.0]
