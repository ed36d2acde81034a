"""The gradient of a loss with respect to a whole model."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.data import Labelled
from moonxi.errors import GradientError, OptionError, ShapeError
from moonxi.losses import mse
from tests.nn.models import CPU, Array, Everywhere, Gate, Mlp, Pair, Scales, line, numbers


@dataclass(frozen=True, eq=False)
class Points[T: mx.Tensor]:
    x: T
    y: T

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Points[U]":
        return Points(f(self.x), f(self.y))


POINTS = Points(numbers(5, 3, seed=10), numbers(5, 2, seed=11))


def network(seed: int = 0) -> Mlp[Array]:
    return Mlp(line(3, 4, seed), line(4, 2, seed + 1))


def squared_error[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: mx.Mode) -> T:
    return mse(model.forward(batch.x, mode), batch.y)


def product[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
    return (model.first * model.second).sum()


def first_alone[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
    return model.first.square().sum()


def differences(value: Callable[[], float], entry: Any, step: float = 1e-6) -> float:
    """The central difference with respect to the single element that ``entry`` is a view of."""
    before = float(entry)
    entry[...] = before + step
    above = value()
    entry[...] = before - step
    below = value()
    entry[...] = before
    return (above - below) / (2.0 * step)


def check_against_differences(model: Any, loss: Callable[[Any], float], gradients: Any, rel: float = 1e-6) -> None:
    """Every element of the gradient against a central difference."""
    arrays = [one.to_host() for one in model.parameters()]

    def value() -> float:
        return loss(model.with_parameters([CPU.from_host(array) for array in arrays]))

    for array, gradient in zip(arrays, gradients.parameters(), strict=True):
        found = gradient.to_host()
        for place in np.ndindex(array.shape):
            expected = differences(value, array[(*place, ...)])
            assert found[place] == pytest.approx(expected, rel=rel, abs=rel)


def test_value_and_gradient_are_those_of_central_differences() -> None:
    model = network()
    value, gradients = mx.value_and_grad(squared_error, model, POINTS, mx.Eval())
    assert value.item() == squared_error(model, POINTS, mx.Eval()).item()
    check_against_differences(model, lambda m: squared_error(m, POINTS, mx.Eval()).item(), gradients)


def test_the_gradients_are_a_model_of_the_same_class_of_plain_tensors() -> None:
    model = network()
    value, gradients = mx.value_and_grad(squared_error, model, POINTS, mx.Eval())
    assert type(gradients) is Mlp
    assert type(gradients.hidden) is nn.Linear
    assert list(gradients.named_parameters()) == list(model.named_parameters())
    for one in (value, *gradients.parameters()):
        assert type(one) is mx.NpArray
        assert one.dtype is mx.F64


def test_gradients_reach_every_place_of_a_model() -> None:
    def total[T: mx.MlpTensor](model: Everywhere[T], batch: Points[T], mode: mx.Mode) -> T:
        result = batch.x.zeros(())
        for number, one in enumerate(model.parameters(), 1):
            result = result + one.sum() * float(number)
        return result

    model = Everywhere.new()
    _, gradients = mx.value_and_grad(total, model, POINTS, mx.Eval())
    for number, one in enumerate(gradients.parameters(), 1):
        assert one.to_host().tolist() == np.full(one.shape, float(number)).tolist()
    assert (type(gradients.scales), type(gradients.gate), gradients.name) == (Scales, Gate, model.name)
    assert gradients.mean.value is model.mean.value


def test_parameters_that_are_not_used_get_zeros() -> None:
    _, gradients = mx.value_and_grad(first_alone, Pair(numbers(2), numbers(0, 3)), POINTS, mx.Eval())
    assert gradients.second.shape == (0, 3)
    _, gradients = mx.value_and_grad(first_alone, Pair(numbers(2), numbers(2, 3)), POINTS, mx.Eval())
    assert gradients.second.to_host().tolist() == [[0.0] * 3] * 2
    assert gradients.first.to_host().any()


def test_the_gradient_of_a_tied_parameter_is_the_sum_over_its_places() -> None:
    shared = numbers(3)
    _, gradients = mx.value_and_grad(product, Pair(shared, shared), POINTS, mx.Eval())
    assert len(gradients.parameters()) == 1
    assert gradients.first is gradients.second
    np.testing.assert_allclose(gradients.first.to_host(), 2.0 * shared.to_host(), rtol=1e-15)


def test_a_layer_used_twice_gets_the_sum_of_both_gradients() -> None:
    def twice[T: mx.MlpTensor](model: nn.Linear[T], batch: Points[T], mode: mx.Mode) -> T:
        return model.forward(model.forward(batch.x).tanh()).square().mean()

    layer = line(3, 3)
    _, gradients = mx.value_and_grad(twice, layer, POINTS, mx.Eval())
    check_against_differences(layer, lambda m: twice(m, POINTS, mx.Eval()).item(), gradients)


def test_equal_gradients_of_two_parameters_are_two_gradients() -> None:
    def added[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        return (model.first + model.second).sum()

    model = Pair(numbers(3), numbers(3, seed=1))
    _, gradients = mx.value_and_grad(added, model, POINTS, mx.Eval())
    assert list(gradients.named_parameters()) == ["first", "second"]
    optimizer = mx.Sgd(lr=1.0)
    after, _ = optimizer.update(model, gradients, optimizer.init(model))
    np.testing.assert_allclose(after.first.to_host(), model.first.to_host() - 1.0)
    np.testing.assert_allclose(after.second.to_host(), model.second.to_host() - 1.0)


def test_a_state_that_holds_a_parameter_takes_no_gradient() -> None:
    @dataclass(frozen=True)
    class Follower[T: mx.Tensor](nn.Module[T]):
        weight: T
        mean: mx.State[T]

    def distance[T: mx.Tensor](model: Follower[T], batch: Points[T], mode: mx.Mode) -> T:
        return (model.weight * model.mean.value).sum()

    weight = numbers(3)
    _, gradients = mx.value_and_grad(distance, Follower(weight, mx.State(weight)), POINTS, mx.Eval())
    np.testing.assert_array_equal(gradients.weight.to_host(), weight.to_host())


def test_a_map_of_ones_own_keeps_ties_and_the_order_of_the_parameters() -> None:
    @dataclass(frozen=True)
    class Own[T: mx.Tensor](nn.Module[T]):
        a: T
        b: T
        c: T

        def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Own[U]":
            c, b, a = f(self.c), f(self.b), f(self.a)
            return Own(a, b, c)

    def weighted[T: mx.Tensor](model: Own[T], batch: Points[T], mode: mx.Mode) -> T:
        return model.a.sum() + model.b.sum() * 2.0 + model.c.sum() * 4.0

    tied = numbers(2)
    _, gradients = mx.value_and_grad(weighted, Own(tied, numbers(2, seed=1), tied), POINTS, mx.Eval())
    assert gradients.a is gradients.c
    assert gradients.a.to_host().tolist() == [5.0, 5.0]
    assert gradients.b.to_host().tolist() == [2.0, 2.0]


def test_a_map_that_leaves_a_parameter_out_is_refused() -> None:
    @dataclass(frozen=True)
    class Forgetful[T: mx.Tensor](nn.Module[T]):
        a: T
        b: T

        def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Forgetful[U]":
            return Forgetful(f(self.a), f(self.a))

    def total[T: mx.Tensor](model: Forgetful[T], batch: Points[T], mode: mx.Mode) -> T:
        return model.a.sum() + model.b.sum()

    text = r"^value_and_grad: Forgetful\.map leaves out 1 of 2 parameters: it must map each field$"
    with pytest.raises(GradientError, match=text):
        mx.value_and_grad(total, Forgetful(numbers(1), numbers(1)), POINTS, mx.Eval())


def test_named_tensors_come_back_plain_beside_the_value() -> None:
    def with_metrics[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: mx.Mode) -> tuple[T, dict[str, T]]:
        y = model.forward(batch.x, mode)
        return mse(y, batch.y), {"largest": y.max(), "output": y, "data": batch.x}

    model = network()
    (value, kept), gradients = mx.value_and_grad(with_metrics, model, POINTS, mx.Eval())
    plain, plain_gradients = mx.value_and_grad(squared_error, model, POINTS, mx.Eval())
    assert value.item() == plain.item()
    assert list(kept) == ["largest", "output", "data"]
    assert all(type(one) is mx.NpArray for one in kept.values())
    np.testing.assert_array_equal(kept["output"].to_host(), model.forward(POINTS.x, mx.Eval()).to_host())
    for one, other in zip(gradients.parameters(), plain_gradients.parameters(), strict=True):
        np.testing.assert_array_equal(one.to_host(), other.to_host())


def test_nothing_kept_beside_the_value_is_an_empty_dict() -> None:
    def nothing[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> tuple[T, Mapping[str, T]]:
        return product(model, batch, mode), {}

    (_, kept), _ = mx.value_and_grad(nothing, Pair(numbers(2), numbers(2)), POINTS, mx.Eval())
    assert kept == {}


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_loss_of_one_number_may_have_axes_of_size_one(shape: tuple[int, ...]) -> None:
    def shaped[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        return product(model, batch, mode).reshape(shape)

    value, gradients = mx.value_and_grad(shaped, Pair(numbers(2), numbers(2)), POINTS, mx.Eval())
    assert value.shape == shape
    assert gradients.first.to_host().any()


@pytest.mark.parametrize("shape", [(2,), (0,), (1, 3)])
def test_a_loss_that_is_not_one_number_is_refused(shape: tuple[int, ...]) -> None:
    def many[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        return model.first * model.second

    shown = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    text = rf"^value_and_grad: the loss has shape \({shown}\): expected one number; reduce it with "
    with pytest.raises(GradientError, match=text + r"\.mean\(\) or \.sum\(\)$"):
        mx.value_and_grad(many, Pair(numbers(*shape), numbers(*shape)), POINTS, mx.Eval())


def test_a_loss_that_depends_on_no_parameter_is_refused() -> None:
    def of_the_batch[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        return batch.x.sum()

    text = r"^value_and_grad: the loss depends on no parameter: compute it from the model that the loss function gets$"
    with pytest.raises(GradientError, match=text):
        mx.value_and_grad(of_the_batch, Pair(numbers(2), numbers(2)), POINTS, mx.Eval())


@pytest.mark.parametrize(
    ("made", "name"), [(lambda: 1.0, "float"), (lambda: numbers(), "NpArray"), (lambda: None, "None")]
)
def test_a_loss_that_is_no_tensor_under_differentiation_is_refused(made: Callable[[], object], name: str) -> None:
    wrong: Any = lambda model, batch, mode: made()  # noqa: E731
    text = rf"^value_and_grad: the loss is {name}, and the parameters are \w*Grad\[NpArray\]: "
    with pytest.raises(GradientError, match=text + "compute it from the model and the batch"):
        mx.value_and_grad(wrong, Pair(numbers(2), numbers(2)), POINTS, mx.Eval())


def test_a_plain_tensor_kept_beside_the_value_is_refused_by_its_name() -> None:
    def wrong[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> tuple[T, dict[str, Any]]:
        return product(model, batch, mode), {"accuracy": 0.5}

    with pytest.raises(
        GradientError, match=r"^value_and_grad: the kept tensor accuracy is float, and the parameters are"
    ):
        mx.value_and_grad(wrong, Pair(numbers(2), numbers(2)), POINTS, mx.Eval())


def test_a_model_without_parameters_is_refused() -> None:
    of_nothing: Any = lambda model, batch, mode: batch.x.sum()  # noqa: E731
    text = r"^value_and_grad: Sequential: there is no parameter to differentiate for$"
    with pytest.raises(GradientError, match=text):
        mx.value_and_grad(of_nothing, nn.Sequential[Array](), POINTS, mx.Eval())


def test_an_error_inside_the_loss_comes_out_and_leaves_nothing_behind() -> None:
    def wrong[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: mx.Mode) -> T:
        return model.forward(batch.y, mode).sum()

    model = network()
    for _ in range(2):
        with pytest.raises(ShapeError, match=r"^Mlp\.forward: argument x: "):
            mx.value_and_grad(wrong, model, POINTS, mx.Eval())
    value, _ = mx.value_and_grad(squared_error, model, POINTS, mx.Eval())
    assert np.isfinite(value.item())


def test_labels_travel_with_the_batch() -> None:
    def picked[T: mx.MlpTensor](model: nn.Linear[T], batch: Labelled[T], mode: mx.Mode) -> T:
        return model.forward(batch.x).pick(batch.labels).mean()

    layer = line(3, 2)
    batch = Labelled(numbers(4, 3), CPU.labels(np.array([0, 1, 1, 1])))
    _, gradients = mx.value_and_grad(picked, layer, batch, mx.Eval())
    assert gradients.bias is not None
    np.testing.assert_allclose(gradients.bias.to_host(), [0.25, 0.75], rtol=1e-15)


def test_the_same_call_gives_the_same_bits() -> None:
    results = [mx.value_and_grad(squared_error, network(), POINTS, mx.Eval()) for _ in range(2)]
    for one, other in zip(results[0][1].parameters(), results[1][1].parameters(), strict=True):
        assert one.to_host().tobytes() == other.to_host().tobytes()


def test_a_scaled_backward_pass_keeps_what_is_too_small_on_the_way() -> None:
    def tiny[T: mx.Tensor](model: Pair[T], batch: Points[T], mode: mx.Mode) -> T:
        return ((model.first * 1e30 * 1e-25) * 1e-25).sum() + model.second.sum()

    x = mx.numpy().ones((2,))
    pair, batch = Pair(x, x * 2.0), Points(x, x)
    _, lost = nn.value_and_grad(tiny, pair, batch, nn.Eval())
    value, kept = nn.value_and_grad(tiny, pair, batch, nn.Eval(), scale=1e20)
    np.testing.assert_array_equal(lost.first.to_host(), [0.0, 0.0])
    np.testing.assert_allclose(kept.first.to_host(), [1e-20, 1e-20], rtol=1e-6)
    np.testing.assert_array_equal(kept.second.to_host(), [1.0, 1.0])
    assert value.item() == pytest.approx(4.0)
    with pytest.raises(OptionError, match=r"^value_and_grad: scale=0\.0: must be positive and finite$"):
        nn.value_and_grad(tiny, pair, batch, nn.Eval(), scale=0.0)


def test_the_collector_rests_in_a_loss_and_no_longer_also_after_an_error() -> None:
    found: list[bool] = []

    def loss[T: mx.MlpTensor](model: Mlp[T], batch: Points[T], mode: mx.Mode) -> T:
        found.append(gc.isenabled())
        value = squared_error(model, batch, mode)
        return value if len(found) == 1 else model.forward(batch.x, mode)

    assert gc.isenabled()
    mx.value_and_grad(loss, network(), POINTS, mx.Eval())
    assert gc.isenabled()
    with pytest.raises(GradientError, match="expected one number"):
        mx.value_and_grad(loss, network(), POINTS, mx.Eval())
    assert gc.isenabled()
    assert found == [False, False]


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        mx.value_and_grad(squared_error, network(), POINTS, mx.Eval())
        assert not gc.isenabled()
    finally:
        gc.enable()
