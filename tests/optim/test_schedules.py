"""Learning rates as functions of the step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi import optim

ELEMENTS = pytest.mark.parametrize("like", [mx.numpy(), mx.numpy(mx.F64)], ids=["F32", "F64"])


@ELEMENTS
@given(every=st.integers(1, 1000), periods=st.integers(0, 20), within=st.integers(0, 999))
def test_step_decay_multiplies_after_each_whole_period[D: mx.F32 | mx.F64](
    like: mx.NpArray[D], every: int, periods: int, within: int
) -> None:
    step = periods * every + within % every
    found = optim.step_decay(0.8, every=optim.Steps(every), factor=0.5)(like.full((), float(step)))
    assert found.dtype is like.dtype
    assert found.item() == pytest.approx(0.8 * 0.5**periods, rel=1e-6)


@ELEMENTS
@given(every=st.integers(1, 100_000), periods=st.integers(1, 100))
def test_step_decay_changes_exactly_at_the_end_of_a_period[D: mx.F32 | mx.F64](
    like: mx.NpArray[D], every: int, periods: int
) -> None:
    schedule = optim.step_decay(1.0, every=optim.Steps(every), factor=0.5)
    last, first = (schedule(like.full((), float(periods * every + offset))).item() for offset in (-1, 0))
    assert last == 0.5 ** (periods - 1)
    assert first == 0.5**periods


def test_a_constant_is_constant_and_lives_where_the_step_is() -> None:
    found = optim.constant(0.25)(mx.numpy(mx.F64).full((), 1e6))
    assert found.item() == 0.25
    assert found.shape == ()
    assert found.dtype is mx.F64


def test_a_schedule_gives_what_a_number_gives_where_they_agree() -> None:
    like = mx.numpy()
    weights = mx.nn.Linear.init(3, 2, like=like, key=mx.Key(0))
    for number, schedule in ((0.1, optim.constant(0.1)), (0.1, optim.step_decay(0.1, every=optim.Steps(5)))):
        results = []
        for lr in (number, schedule):
            optimizer = optim.Sgd(lr=lr)
            model, _ = optimizer.update(weights, weights, optimizer.init(weights))
            results.append(model.weight.to_host())
        assert results[0] == pytest.approx(results[1], rel=1e-6)


def test_schedules_are_values_that_print_as_they_are_written() -> None:
    assert optim.step_decay(0.1, every=optim.Steps(3)) == optim.step_decay(0.1, optim.Steps(3), 0.1)
    assert repr(optim.constant(0.1)) == "constant(lr=0.1)"


@pytest.mark.parametrize("every", [0, -1])
def test_a_period_of_no_steps_is_refused(every: int) -> None:
    with pytest.raises(ValueError, match=rf"^step_decay: every={every}: must be at least 1$"):
        optim.step_decay(0.1, every=optim.Steps(every))
