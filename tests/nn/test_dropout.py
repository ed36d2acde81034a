"""Dropout: what is dropped, when, and by which key."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi import nn
from moonxi.errors import ShapeError
from moonxi.nn import dropout
from tests.nn.models import CPU, Array, numbers
from tests.nn.test_value_and_grad import Points

KEY = mx.Key(7)
ONES = CPU.ones((40, 50))


def mask(x: Array) -> list[bool]:
    return list((x.to_host() != 0.0).reshape(-1))


@given(st.floats(0.0, 1.0), st.integers(0, 2**64 - 1))
def test_each_element_is_dropped_or_scaled(rate: float, seed: int) -> None:
    found = dropout(ONES, rate, mx.Key(seed)).to_host()
    assert set(np.unique(found)) <= {0.0, 1.0 / (1.0 - rate) if rate < 1.0 else 0.0}


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("like", [mx.numpy(), CPU], ids=["F32", "F64"])
def test_the_rate_and_the_mean_are_kept[D: mx.F32 | mx.F64](rate: float, like: mx.NpArray[D]) -> None:
    count = 100_000
    found = dropout(like.ones((count,)), rate, KEY).to_host()
    deviation = np.sqrt(rate * (1.0 - rate) / count)
    assert abs((found == 0.0).mean() - rate) < 5.0 * deviation
    assert abs(found.mean() - 1.0) < 5.0 * deviation / (1.0 - rate)


def test_rate_0_is_the_identity_and_rate_1_is_zero() -> None:
    x = numbers(4, 5)
    assert dropout(x, 0.0, KEY) is x
    assert not dropout(x, 1.0, KEY).to_host().any()


def test_rate_1_drops_what_is_not_finite_too() -> None:
    x = CPU.from_host(np.array([np.inf, -np.inf, np.nan]))
    assert dropout(x, 1.0, KEY).to_host().tolist() == [0.0, 0.0, 0.0]


def test_evaluation_is_the_identity() -> None:
    x = numbers(4, 5, 2, 3)
    assert nn.Dropout(0.5).forward(x, mx.Eval()) is x
    assert nn.Dropout2d(0.5).forward(x, mx.Eval()) is x


def test_whole_channels_are_dropped_or_scaled() -> None:
    x = numbers(30, 40, 2, 3)
    found = nn.Dropout2d(0.25).forward(x, mx.Train(KEY)).to_host() / x.to_host()
    assert set(np.unique(found.round(12))) == {0.0, round(1.0 / 0.75, 12)}
    assert (np.ptp(found.reshape(30, 40, 6), axis=-1) < 1e-12).all()
    assert abs((found == 0.0).mean() - 0.25) < 0.06
    assert not nn.Dropout2d(1.0).forward(x.full(x.shape, np.inf), mx.Train(KEY)).to_host().any()
    assert nn.Dropout2d(0.0).forward(x, mx.Train(KEY)) is x
    with pytest.raises(ShapeError, match=r'^Dropout2d\.forward: argument x: expected Float\[T, "batch channels height'):
        nn.Dropout2d(0.5).forward(numbers(3, 4), mx.Train(KEY))


def test_one_key_gives_one_mask_and_another_another() -> None:
    layer = nn.Dropout(0.5)
    one, again, other = (layer.forward(ONES, mx.Train(key)) for key in (KEY, KEY, KEY.fold(1)))
    assert mask(one) == mask(again)
    assert mask(one) != mask(other)
    assert mask(dropout(ONES, 0.5, KEY)) != mask(dropout(ONES, 0.5, KEY.fold(1)))


def differ(masks: list[list[bool]]) -> bool:
    """Whether no two of the masks are alike, neither are they opposites."""
    agreement = [np.mean(np.equal(a, b)) for n, a in enumerate(masks) for b in masks[:n]]
    return all(0.4 < share < 0.6 for share in agreement)


class Recorder:
    """A layer that keeps the mask of what it gets, and gives ones."""

    def __init__(self, masks: list[list[bool]]) -> None:
        self.masks = masks

    def forward(self, x: Array, mode: nn.Mode, /) -> Array:
        self.masks.append(mask(x))
        return ONES


def test_two_dropouts_under_one_key_draw_different_masks() -> None:
    masks: list[list[bool]] = []
    keep = Recorder(masks)
    model = nn.Sequential[Array](nn.Dropout(0.5), keep, nn.Dropout(0.5), keep, nn.Sequential(nn.Dropout(0.5)), keep)
    model.forward(ONES, mx.Train(KEY))
    assert len(masks) == 3
    assert differ(masks)


def test_one_dropout_used_twice_draws_different_masks() -> None:
    masks: list[list[bool]] = []
    keep, layer = Recorder(masks), nn.Dropout(0.5)
    nn.Sequential[Array](layer, keep, layer, keep, layer, keep).forward(ONES, mx.Train(KEY))
    assert len(masks) == 3
    assert differ(masks)


def test_dropouts_made_within_a_forward_draw_different_masks() -> None:
    class Careless(nn.Layer):
        def forward(self, x: Array, mode: nn.Mode, /) -> list[Array]:
            return [nn.Dropout(0.5).forward(x, mode) for _ in range(3)]

    assert differ([mask(one) for one in Careless().forward(ONES, mx.Train(KEY))])


def test_the_masks_of_a_model_do_not_depend_on_what_ran_before() -> None:
    model = nn.Sequential[Array](nn.Dropout(0.5), nn.Relu(), nn.Dropout(0.5))
    first = mask(model.forward(ONES, mx.Train(KEY)))
    nn.Dropout(0.5).forward(ONES, mx.Train(KEY))
    model.forward(ONES[:3], mx.Train(KEY.fold(5)))
    assert mask(model.forward(ONES, mx.Train(KEY))) == first


def test_the_mask_under_differentiation_is_that_without() -> None:
    layer = nn.Dropout(0.5)
    plain = layer.forward(ONES, mx.Train(KEY))
    lifted = layer.forward(mx.variable(ONES), mx.Train(KEY))
    twice = layer.forward(mx.variable(mx.variable(ONES)), mx.Train(KEY))
    np.testing.assert_array_equal(lifted.to_host(), plain.to_host())
    np.testing.assert_array_equal(twice.to_host(), plain.to_host())


def test_the_gradient_uses_the_mask_of_the_value() -> None:
    for rate in (0.3, 1.0):
        x = mx.variable(numbers(20, 30))
        y = nn.Dropout(rate).forward(x, mx.Train(KEY))
        gradient = y.sum().backward().of(x)
        expected = dropout(ONES[:20, :30], rate, KEY.fold("Dropout"))
        np.testing.assert_array_equal(gradient.to_host(), expected.to_host())
        np.testing.assert_allclose(y.to_host(), x.to_host() * gradient.to_host(), rtol=1e-15)


def test_a_model_in_a_loss_drops_what_it_drops_alone() -> None:
    def output[T: mx.Tensor](model: nn.Sequential[T], batch: Points[T], mode: nn.Mode) -> tuple[T, dict[str, T]]:
        y = model.forward(batch.x, mode)
        return (y * model.parameters()[0]).sum(), {"y": y}

    model = nn.Sequential(nn.Dropout(0.5), nn.Linear.init(50, 50, like=CPU, key=KEY), nn.Dropout(0.5))
    (_, kept), _ = mx.value_and_grad(output, model, Points(ONES[:1], ONES[:1]), mx.Train(KEY))
    np.testing.assert_array_equal(kept["y"].to_host(), model.forward(ONES[:1], mx.Train(KEY)).to_host())


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
@pytest.mark.parametrize("make", [nn.Dropout, nn.Dropout2d, lambda rate: dropout(ONES, rate, KEY)])
def test_a_rate_that_is_no_probability_is_refused(rate: float, make: Callable[[float], object]) -> None:
    with pytest.raises(ValueError, match=rf"^[dD]ropout(2d)?: rate={rate}: must lie between 0 and 1$"):
        make(rate)
