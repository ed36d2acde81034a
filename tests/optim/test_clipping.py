"""Clipping by the norm of all gradients together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi.optim import Sgd, clip_by_global_norm, clip_by_value, global_norm

LIKE = mx.numpy(mx.F64)
numbers = st.floats(-100.0, 100.0)


@given(st.lists(st.lists(numbers, max_size=4), min_size=1, max_size=4), st.floats(1e-3, 1e3))
def test_the_norm_of_the_clipped_gradients_is_that_before_or_the_limit(rows: list[list[float]], limit: float) -> None:
    gradients = [LIKE.from_host(np.array(row, np.float64)) for row in rows]
    before = global_norm(gradients).item()
    assert before == pytest.approx(np.linalg.norm(np.concatenate(rows)), abs=1e-12)
    clipped = clip_by_global_norm(gradients, limit)
    assert global_norm(clipped).item() == pytest.approx(min(before, limit), rel=2e-6 / max(limit, 1e-3), abs=1e-12)
    if before < limit / 2.0:
        for one, other in zip(gradients, clipped, strict=True):
            np.testing.assert_array_equal(one.to_host(), other.to_host())


def test_clipping_keeps_the_direction() -> None:
    gradients = [LIKE.from_host(np.array([3.0, 0.0])), LIKE.from_host(np.array([[4.0]]))]
    first, second = clip_by_global_norm(gradients, 1.0)
    np.testing.assert_allclose(first.to_host(), [0.6, 0.0], rtol=1e-6)
    np.testing.assert_allclose(second.to_host(), [[0.8]], rtol=1e-6)


def test_gradients_of_zero_stay_zero() -> None:
    (clipped,) = clip_by_global_norm([LIKE.zeros((3,))], 1.0)
    assert clipped.to_host().tolist() == [0.0, 0.0, 0.0]


def test_nothing_is_clipped_to_nothing() -> None:
    assert clip_by_global_norm(list[mx.NpArray[mx.F64]](), 1.0) == ()


def test_a_nan_is_not_clipped_away() -> None:
    first, second = clip_by_global_norm([LIKE.from_host(np.array([np.nan, 1.0])), LIKE.ones((1,))], 0.5)
    assert np.isnan(first.to_host()).any()
    assert np.isfinite(second.to_host()).all() or np.isnan(second.to_host()).all()


@given(st.lists(numbers, max_size=6), st.floats(1e-3, 1e3))
def test_clipping_by_value_leaves_what_is_within_and_moves_the_rest_to_it(row: list[float], limit: float) -> None:
    gradient = LIKE.from_host(np.array(row, np.float64))
    (clipped,) = clip_by_value([gradient], limit)
    np.testing.assert_array_equal(clipped.to_host(), np.clip(np.array(row), -limit, limit))


def test_an_update_clips_by_value_and_then_by_the_norm() -> None:
    gradients = mx.nn.Linear(LIKE.from_host(np.array([[10.0]])), LIKE.from_host(np.array([-0.3])))
    model = mx.nn.Linear(LIKE.zeros((1, 1)), LIKE.zeros((1,)))
    optimizer = Sgd(lr=1.0, clip_value=0.4, clip_norm=0.25)
    after, _ = optimizer.update(model, gradients, optimizer.init(model))
    found = np.concatenate([one.to_host().reshape(-1) for one in after.parameters()])
    np.testing.assert_allclose(found, [-0.2, 0.15], rtol=1e-5)


@pytest.mark.parametrize("element", [1e19, 1e25, 1e28])
def test_a_norm_whose_square_is_more_than_float32_holds_is_clipped_to_the_limit(element: float) -> None:
    like = mx.numpy()
    gradients = [like.full((2, 2), element), like.zeros((0,)), like.full((5,), -element)]
    first, _, last = clip_by_global_norm(gradients, 3.0)
    np.testing.assert_allclose(first.to_host(), 1.0, rtol=1e-6)
    np.testing.assert_allclose(last.to_host(), -1.0, rtol=1e-6)
    assert global_norm(gradients).item() == pytest.approx(3.0 * element, rel=1e-6)


@pytest.mark.parametrize("limit", [1e-6, 1.0, 1e6])
def test_many_small_elements_together_are_clipped_as_one_large_one_is(limit: float) -> None:
    (clipped,) = clip_by_global_norm([mx.numpy().full((1_000_000,), 2e-3 * limit)], limit)
    np.testing.assert_allclose(clipped.to_host(), 1e-3 * limit, rtol=1e-4 + 1e-6 / limit)


def test_a_norm_whose_square_is_less_than_float32_holds_is_not_zero() -> None:
    like = mx.numpy()
    assert global_norm([like.full((4,), 1e-30), like.zeros(())]).item() == pytest.approx(2e-30, rel=1e-6)
