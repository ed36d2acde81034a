"""What schedules are at their ends, what they refuse, and how they are put together; the plateau's state."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi import optim
from moonxi.errors import OptionError

LIKE = mx.numpy(mx.F64)
ENDS: dict[str, tuple[optim.Schedule, int, float]] = {
    "cosine": (optim.cosine(0.5, optim.Steps(10), final=0.1), 10, 0.1),
    "polynomial": (optim.polynomial(0.5, optim.Steps(10), power=3.0, final=0.2), 10, 0.2),
    "warm_up": (optim.warm_up(0.5, optim.Steps(10)), 10, 0.5),
    "one_cycle": (optim.one_cycle(0.5, optim.Steps(10), final_divisor=2.0), 9, 0.01),
    "joined": (
        optim.join(
            (optim.warm_up(0.5, optim.Steps(4)), optim.cosine(0.5, optim.Steps(6), final=0.05)), at=(optim.Steps(4),)
        ),
        10,
        0.05,
    ),
}


def at(schedule: optim.Schedule, step: float) -> float:
    return schedule(LIKE.full((), step)).item()


@pytest.mark.parametrize("name", ENDS)
@given(further=st.integers(0, 10_000))
def test_a_schedule_stays_at_its_last_value(name: str, further: int) -> None:
    schedule, steps, last = ENDS[name]
    assert at(schedule, steps + further) == pytest.approx(last, rel=1e-12)


@given(steps=st.integers(1, 1000), lr=st.floats(0.0, 10.0), final=st.floats(0.0, 10.0))
def test_schedules_begin_at_their_rate_and_lie_between_the_ends(steps: int, lr: float, final: float) -> None:
    for schedule in (optim.cosine(lr, optim.Steps(steps), final), optim.polynomial(lr, optim.Steps(steps), 2.0, final)):
        assert at(schedule, 0) == pytest.approx(lr, abs=1e-12)
        for step in (steps // 3, steps // 2, steps):
            assert min(lr, final) - 1e-12 <= at(schedule, step) <= max(lr, final) + 1e-12


@given(first=st.integers(1, 50), second=st.integers(1, 50), offset=st.integers(0, 30))
def test_a_joined_schedule_is_each_part_from_its_own_step_zero(first: int, second: int, offset: int) -> None:
    parts = (
        optim.polynomial(1.0, optim.Steps(7)),
        optim.exponential(0.5, 0.9, every=optim.Steps(1)),
        optim.cosine(0.25, optim.Steps(20)),
    )
    schedule = optim.join(parts, at=(optim.Steps(first), optim.Steps(first + second)))
    assert at(schedule, min(offset, first - 1)) == at(parts[0], min(offset, first - 1))
    assert at(schedule, first + min(offset, second - 1)) == at(parts[1], min(offset, second - 1))
    assert at(schedule, first + second + offset) == at(parts[2], offset)


def test_chained_schedules_are_multiplied_and_one_is_itself() -> None:
    parts = (
        optim.cosine(0.3, optim.Steps(10)),
        optim.warm_up(1.0, optim.Steps(3)),
        optim.exponential(1.0, 0.5, every=optim.Steps(1)),
    )
    assert at(optim.chain(*parts), 2) == pytest.approx(at(parts[0], 2) * at(parts[1], 2) * at(parts[2], 2), rel=1e-14)
    assert at(optim.chain(parts[0]), 2) == at(parts[0], 2)


def test_schedules_are_values_that_print_as_they_are_written() -> None:
    assert optim.chain(optim.constant(0.1)) == optim.chain(optim.constant(0.1))
    assert repr(optim.cosine(0.1, optim.Steps(5))) == "cosine(lr=0.1, steps=5, final=0.0)"
    assert hash(optim.join((optim.constant(1.0),), at=())) == hash(optim.join((optim.constant(1.0),), at=()))


def test_an_optimizer_steps_by_a_composed_schedule() -> None:
    schedule = optim.join((optim.warm_up(0.5, optim.Steps(2)), optim.constant(0.25)), at=(optim.Steps(2),))
    optimizer = optim.Sgd(lr=schedule)
    weights = mx.nn.Linear(LIKE.zeros((1, 1)), LIKE.zeros((1,)))
    ones = mx.nn.Linear(LIKE.ones((1, 1)), LIKE.ones((1,)))
    state = optimizer.init(weights)
    seen = []
    for _ in range(4):
        weights, state = optimizer.update(weights, ones, state)
        seen.append(weights.bias.item() if weights.bias is not None else nan)
    assert seen == [0.0, -0.25, -0.5, -0.75]


def test_odd_arguments_are_refused() -> None:
    refused: dict[str, Callable[[], object]] = {
        "cosine: steps=0: must be at least 1": lambda: optim.cosine(0.1, optim.Steps(0)),
        "cosine: lr=-0.1: must be finite and not negative": lambda: optim.cosine(-0.1, optim.Steps(3)),
        "cosine: final=nan: must be finite and not negative": lambda: optim.cosine(0.1, optim.Steps(3), nan),
        "polynomial: steps=-1: must be at least 1": lambda: optim.polynomial(0.1, optim.Steps(-1)),
        "polynomial: power=0.0: must be positive and finite": lambda: optim.polynomial(0.1, optim.Steps(3), 0.0),
        "polynomial: lr=inf: must be finite and not negative": lambda: optim.polynomial(inf, optim.Steps(3)),
        "exponential: factor=0.0: must be greater than 0 and at most 1": lambda: optim.exponential(
            0.1, 0.0, every=optim.Steps(1)
        ),
        "exponential: factor=1.1: must be greater than 0 and at most 1": lambda: optim.exponential(
            0.1, 1.1, every=optim.Steps(1)
        ),
        "warm_up: steps=0: must be at least 1": lambda: optim.warm_up(0.1, optim.Steps(0)),
        "warm_up: start=-1.0: must be finite and not negative": lambda: optim.warm_up(0.1, optim.Steps(3), -1.0),
        "one_cycle: peak=-1.0: must be finite and not negative": lambda: optim.one_cycle(-1.0, optim.Steps(30)),
        "one_cycle: steps=0: must be at least 1": lambda: optim.one_cycle(0.1, optim.Steps(0)),
        "one_cycle: start_divisor=0.0: must be positive and finite": lambda: optim.one_cycle(
            0.1, optim.Steps(30), start_divisor=0.0
        ),
        "one_cycle: final_divisor=-1.0: must be positive and finite": lambda: optim.one_cycle(
            0.1, optim.Steps(30), final_divisor=-1.0
        ),
        "one_cycle: rising=0.3, steps=3: the rising part must be more than one step and less than all": (
            lambda: optim.one_cycle(0.1, optim.Steps(3))
        ),
        "one_cycle: rising=1.0, steps=30: the rising part must be more than one step and less than all": (
            lambda: optim.one_cycle(0.1, optim.Steps(30), rising=1.0)
        ),
        "join: 1 schedules, at=(3,): there must be one step for each schedule but the first": (
            lambda: optim.join((optim.constant(0.1),), at=(optim.Steps(3),))
        ),
        "join: at=(3, 3): the steps must be positive and rise": lambda: optim.join(
            (optim.constant(0.1),) * 3, (optim.Steps(3), optim.Steps(3))
        ),
        "join: at=0: must be at least 1": lambda: optim.join((optim.constant(0.1),) * 2, (optim.Steps(0),)),
        "chain: no schedules: give at least one": lambda: optim.chain(),
        "Plateau: factor=1.0: must be greater than 0 and less than 1": lambda: optim.Plateau(lr=0.1, factor=1.0),
        "Plateau: lr=0.1, min_lr=0.2: must be 0 <= min_lr <= lr": lambda: optim.Plateau(lr=0.1, min_lr=0.2),
        "Plateau: patience=-1: must be at least 0": lambda: optim.Plateau(lr=0.1, patience=-1),
        "Plateau: threshold=nan: must be finite and not negative": lambda: optim.Plateau(lr=0.1, threshold=nan),
    }
    for text, make in refused.items():
        with pytest.raises(OptionError) as caught:
            make()
        assert str(caught.value) == text


@pytest.mark.parametrize("metric", [-1.0, 0.0, 1.0, nan, inf])
@pytest.mark.parametrize("higher", [False, True])
def test_a_metric_that_never_changes_is_a_plateau_whatever_its_sign(metric: float, higher: bool) -> None:
    plateau = optim.Plateau(lr=1.0, factor=0.5, patience=3, higher_is_better=higher)
    state = plateau.init()
    for _ in range(5):
        state = plateau.after(state, metric)
    assert state.lr == 0.5


def test_the_state_of_a_plateau_is_pure_and_goes_into_the_optimizer() -> None:
    plateau = optim.Plateau(lr=1.0, factor=0.5, patience=0)
    before = plateau.after(plateau.init(), 1.0)
    assert plateau.after(before, 2.0) == plateau.after(before, 2.0)
    assert before == optim.PlateauState(1.0, 1.0)
    assert replace(optim.Sgd(lr=1.0, momentum=0.9), lr=plateau.after(before, 2.0).lr) == optim.Sgd(lr=0.5, momentum=0.9)
