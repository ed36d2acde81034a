"""Random training steps: models that go from call to call, tied or not, some of them kept, as in the eager step."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import moonxi as mx
from moonxi import nn, optim
from moonxi.compiled import Pass
from tests.compiled.test_random_programs import COLUMNS, PASSES, ROWS, Program, programs, values_of, variants

type Host = mx.NpArray[mx.F64]

CPU = mx.numpy(mx.F64)
OPTIMIZERS: Final[tuple[optim.Optimizer, ...]] = (
    optim.Sgd(lr=0.01),
    optim.Sgd(lr=optim.cosine(0.01, optim.Steps(8)), momentum=0.9, weight_decay=0.01, clip_norm=1.0),
    optim.Adam(lr=0.01),
    optim.AdamW(lr=0.01, weight_decay=0.1, clip_value=0.1),
)


@dataclass(frozen=True)
class Net[T: mx.MlpTensor](nn.Module[T]):
    """Parameters of several shapes, of which two may be one."""

    one: T
    other: T
    bias: T
    scale: T


type State = optim.OptimizerState[Host, Net[Host]]
type Batch = mx.Labelled[Host]


def step(
    program: Program, optimizer: optim.Optimizer, model: Net[Host], state: State, batch: Batch
) -> tuple[Net[Host], State, Host]:
    def loss[T: mx.MlpTensor](net: Net[T], batch: mx.Labelled[T], mode: nn.Mode) -> T:
        values = values_of(program, net.one, net.other + batch.x, batch.labels)
        return ((values[-1] + net.bias).tanh() * net.scale).mean()

    value, gradients = mx.value_and_grad(loss, model, batch, nn.Eval())
    return (*optimizer.update(model, gradients, state), value)


def arrays(result: tuple[Net[Host], State, Host]) -> list[Host]:
    model, state, value = result
    return [value, *model.parameters(), state.step, *(one for slot in state.slots.values() for one in slot)]


def start[T: mx.MlpTensor](like: T, tied: bool) -> Net[T]:
    one, other, bias = mx.Key(7).split(3)
    first = like.normal((ROWS, COLUMNS), one)
    second = first if tied else like.normal((ROWS, COLUMNS), other)
    return Net(first, second, like.normal((COLUMNS,), bias), like.ones(()))


@dataclass(frozen=True)
class Plan:
    """What happens in a run: the program, whether two parameters are one, the optimizer, which models are kept."""

    program: Program
    tied: bool
    optimizer: optim.Optimizer
    kept: tuple[bool, ...]


plans = st.builds(
    Plan,
    program=programs,
    tied=st.booleans(),
    optimizer=st.sampled_from(OPTIMIZERS),
    kept=st.lists(st.booleans(), min_size=3, max_size=8).map(tuple),
)


def check(plan: Plan, variants: tuple[tuple[Pass, ...], ...], like: Any = CPU) -> None:
    for without in variants:
        compiled = mx.compile(step, without=without)
        model: Any = start(like, plan.tied)
        state = plan.optimizer.init(model)
        kept: list[tuple[tuple[Net[Host], State, Host], list[bytes]]] = []
        for number, keep in enumerate(plan.kept):
            x = like.normal((ROWS, COLUMNS), mx.Key(number))
            batch = mx.Labelled(x, like.labels(np.array([number % 4, 3, 1])))
            expected = [one.to_host() for one in arrays(step(plan.program, plan.optimizer, model, state, batch))]
            result = compiled(plan.program, plan.optimizer, model, state, batch)
            for mine, theirs in zip(arrays(result), expected, strict=True):
                np.testing.assert_allclose(mine.to_host(), theirs, rtol=1e-9, atol=1e-11)
            model, state, _ = result
            assert (model.one is model.other) == plan.tied
            if keep:
                kept.append((result, [one.to_host().tobytes() for one in arrays(result)]))
            del result
        for before, bits in kept:
            assert [one.to_host().tobytes() for one in arrays(before)] == bits
        assert [trace.replays for trace in mx.compile_report(compiled).traces] == [len(plan.kept) - 1]


@given(plans)
@settings(max_examples=60)
@example(Plan((("product", 0, 1),), True, OPTIMIZERS[1], (True, False, False) * 3))
@example(Plan((("picked", 0, 1), ("scale", 0, 0)), False, OPTIMIZERS[2], (False, True) * 4))
def test_random_training_steps_are_compiled_right(plan: Plan) -> None:
    check(plan, ((), PASSES))


@pytest.mark.slow
@given(plans, st.sampled_from(PASSES))
@settings(max_examples=200)
def test_many_random_training_steps_are_compiled_right_by_each_pass_alone(plan: Plan, alone: Pass) -> None:
    check(plan, variants(alone))
