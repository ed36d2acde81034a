"""State that changes while a model is computed: it comes back with the result, and the model stays as it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import ModuleError, ShapeError
from tests.nn.models import CPU, Array, numbers
from tests.nn.test_value_and_grad import POINTS, Points

TRAIN = mx.Train(mx.Key(0))


@dataclass(frozen=True)
class Centred[T: mx.Tensor](nn.Module[T]):
    """Subtracts a running mean of what it has seen."""

    scale: T
    mean: mx.State[T]

    def forward(self, x: T, mode: mx.Mode, /) -> T:
        match mode:
            case mx.Train():
                now = x.mean(0)
                mode.update(self.mean, mode.newest(self.mean) * 0.9 + now * 0.1)
                return (x - now) * self.scale
            case mx.Eval():
                return (x - self.mean.value) * self.scale


def centred(seed: int = 0) -> Centred[Array]:
    return Centred(numbers(3, seed=seed), mx.State(CPU.zeros((3,))))


def spread[T: mx.Tensor](model: nn.Step[T], batch: Points[T], mode: mx.Mode) -> T:
    return model.forward(batch.x, mode).square().mean()


def chain_spread[T: mx.Tensor](model: nn.Sequential[T], batch: Points[T], mode: mx.Mode) -> T:
    return spread(model, batch, mode)


def centred_spread[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
    return spread(model, batch, mode)


EXPECTED = POINTS.x.to_host().mean(0) * 0.1


def test_the_new_state_comes_back_with_the_gradients_and_goes_on_with_the_update() -> None:
    model = centred()
    _, gradients = mx.value_and_grad(centred_spread, model, POINTS, TRAIN)
    np.testing.assert_allclose(gradients.mean.value.to_host(), EXPECTED, rtol=1e-14)
    assert type(gradients.mean.value) is mx.NpArray
    assert not model.mean.value.to_host().any()
    optimizer = mx.Sgd(lr=0.1)
    after, _ = optimizer.update(model, gradients, optimizer.init(model))
    assert after.mean.value is gradients.mean.value
    assert model.with_state(gradients).mean.value is gradients.mean.value
    assert model.with_state(gradients).scale is model.scale


def test_evaluation_leaves_the_state_alone() -> None:
    model = centred()
    _, gradients = mx.value_and_grad(centred_spread, model, POINTS, mx.Eval())
    assert gradients.mean.value is model.mean.value


def test_only_the_state_that_was_updated_changes() -> None:
    @dataclass(frozen=True)
    class Two[T: mx.Tensor](nn.Module[T]):
        used: Centred[T]
        unused: Centred[T]

    def first[T: mx.Tensor](model: Two[T], batch: Points[T], mode: mx.Mode) -> T:
        return spread(model.used, batch, mode)

    model = Two(centred(), centred(1))
    _, gradients = mx.value_and_grad(first, model, POINTS, TRAIN)
    np.testing.assert_allclose(gradients.used.mean.value.to_host(), EXPECTED, rtol=1e-14)
    np.testing.assert_array_equal(gradients.unused.mean.value.to_host(), model.unused.mean.value.to_host())


def test_each_layer_in_a_chain_keeps_its_own_state() -> None:
    model = nn.Sequential(centred(), nn.Tanh(), centred(1))
    _, gradients = mx.value_and_grad(chain_spread, model, POINTS, TRAIN)
    states = gradients.named_states()
    assert list(states) == ["layers[0].mean", "layers[2].mean"]
    np.testing.assert_allclose(states["layers[0].mean"].to_host(), EXPECTED, rtol=1e-14)
    assert not np.allclose(states["layers[2].mean"].to_host(), EXPECTED)


def test_a_layer_at_two_places_has_one_state_before_and_after() -> None:
    layer = centred()
    model = nn.Sequential(layer, nn.Tanh(), layer)
    _, gradients = mx.value_and_grad(chain_spread, model, POINTS, TRAIN)
    assert list(gradients.named_states()) == ["layers[0].mean"]
    assert gradients.layers[0] is gradients.layers[2]


def test_a_layer_used_twice_takes_both_uses_into_its_state() -> None:
    def siamese[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
        return (model.forward(batch.x, mode) - model.forward(batch.x * 3.0, mode)).square().mean()

    _, gradients = mx.value_and_grad(siamese, centred(), POINTS, TRAIN)
    np.testing.assert_allclose(gradients.mean.value.to_host(), EXPECTED * 0.9 + EXPECTED * 3.0, rtol=1e-14)


def test_the_newest_state_is_that_of_the_model_until_it_is_updated() -> None:
    newest: list[Array] = []

    def watched[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
        assert isinstance(mode, mx.Train)
        for _ in range(2):
            newest.append(mode.newest(model.mean).value)  # type: ignore[attr-defined]
            mode.update(model.mean, mode.newest(model.mean) + 1.0)
        return model.scale.sum()

    model = centred()
    for _ in range(2):
        _, gradients = mx.value_and_grad(watched, model, POINTS, TRAIN)
        assert gradients.mean.value.to_host().tolist() == [2.0] * 3
    assert [one.to_host()[0] for one in newest] == [0.0, 1.0, 0.0, 1.0]
    assert TRAIN.newest(model.mean) is model.mean.value


def test_no_gradient_flows_through_a_state() -> None:
    def through_state[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
        assert isinstance(mode, mx.Train)
        mode.update(model.mean, model.scale * 2.0)
        return (model.scale * model.mean.value).sum()

    model = Centred(numbers(3), mx.State(numbers(3, seed=1)))
    _, gradients = mx.value_and_grad(through_state, model, POINTS, TRAIN)
    np.testing.assert_array_equal(gradients.scale.to_host(), model.mean.value.to_host())
    np.testing.assert_array_equal(gradients.mean.value.to_host(), model.scale.to_host() * 2.0)


def test_a_state_of_another_shape_is_refused_where_it_is_made() -> None:
    def wrong[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
        assert isinstance(mode, mx.Train)
        mode.update(model.mean, batch.x.mean())
        return model.scale.sum()

    text = r"^state update \(before and after\): \(3,\) and \(\): the shapes must be equal"
    with pytest.raises(ShapeError, match=text):
        mx.value_and_grad(wrong, centred(), POINTS, TRAIN)


def test_an_update_outside_a_forward_is_refused() -> None:
    text = r"^state update: outside a forward: new state is collected while a model is computed$"
    with pytest.raises(ModuleError, match=text):
        TRAIN.update(mx.State(numbers(3)), numbers(3))


def test_a_plain_forward_in_training_changes_nothing() -> None:
    model = centred()
    model.forward(POINTS.x, TRAIN)
    assert not model.mean.value.to_host().any()


def test_the_state_of_an_inner_differentiation_comes_back_from_the_outer_one() -> None:
    seen: list[Any] = []

    def outer[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
        value, inner = mx.value_and_grad(centred_spread, model, batch, mode)
        seen.append(inner.mean.value)
        return value + inner.scale.square().sum()

    model = centred()
    _, gradients = mx.value_and_grad(outer, model, POINTS, TRAIN)
    np.testing.assert_allclose(seen[0].to_host(), EXPECTED, rtol=1e-14)
    np.testing.assert_allclose(gradients.mean.value.to_host(), EXPECTED, rtol=1e-14)
    assert not model.mean.value.to_host().any()


def test_an_inner_differentiation_goes_on_from_the_state_before_it_and_the_outer_one_from_that_after_it() -> None:
    def outer[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
        plain = centred_spread(model, batch, mode)
        value, inner = mx.value_and_grad(centred_spread, model, batch, mode)
        return plain + value + centred_spread(model, batch, mode) + inner.scale.square().sum()

    def three_times[T: mx.Tensor](model: Centred[T], batch: Points[T], mode: mx.Mode) -> T:
        first, second = centred_spread(model, batch, mode), centred_spread(model, batch, mode)
        return first + second + centred_spread(model, batch, mode)

    _, nested = mx.value_and_grad(outer, centred(), POINTS, TRAIN)
    _, flat = mx.value_and_grad(three_times, centred(), POINTS, TRAIN)
    np.testing.assert_array_equal(nested.mean.value.to_host(), flat.mean.value.to_host())


def test_a_gradient_penalty_moves_the_running_statistics_of_batch_norm() -> None:
    def loss[T: mx.ImageModelTensor](model: nn.BatchNorm2d[T], batch: Points[T], mode: mx.Mode) -> T:
        return model.forward(batch.x.reshape((1, 1, 5, 3)), mode).square().mean()

    def penalised[T: mx.ImageModelTensor](model: nn.BatchNorm2d[T], batch: Points[T], mode: mx.Mode) -> T:
        value, gradients = mx.value_and_grad(loss, model, batch, mode)
        return value + gradients.weight.square().sum()

    model = nn.BatchNorm2d.init(1, like=CPU)
    _, plain = mx.value_and_grad(loss, model, POINTS, TRAIN)
    _, nested = mx.value_and_grad(penalised, model, POINTS, TRAIN)
    assert plain.mean.value.item() != 0.0
    assert nested.mean.value.item() == plain.mean.value.item()
    assert nested.variance.value.item() == plain.variance.value.item()


def test_state_is_never_trained() -> None:
    model = centred()
    optimizer = mx.Adam(lr=0.1, weight_decay=1.0)
    assert optimizer.init(model).names == ("scale",)
    _, gradients = mx.value_and_grad(centred_spread, model, POINTS, mx.Eval())
    after, _ = optimizer.update(model, gradients, optimizer.init(model))
    assert after.mean.value is model.mean.value
