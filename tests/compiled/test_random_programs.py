"""Random programs: eager = traced = a pass alone = all passes, on values and gradients; what was given out stays.

Which pass stands alone is drawn with the program."""

from collections.abc import Callable
from typing import Final, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import moonxi as mx
from moonxi.compiled import Pass, host_plan, schedule
from moonxi.traits import Labels, MlpTensor

type Host = mx.NpArray[mx.F64]
type Outcome = tuple[tuple[Host, ...], Host, Host]
type Program = tuple[tuple[str, int, int], ...]

ROWS, COLUMNS = 3, 4
PASSES: Final[tuple[Pass, ...]] = get_args(Pass.__value__)


def variants(alone: Pass) -> tuple[tuple[Pass, ...], ...]:
    """What is left out: everything, everything but one pass, nothing."""
    return PASSES, tuple(other for other in PASSES if other != alone), ()


class Operations[T: MlpTensor]:
    """Operations from two tensors of three rows and four columns, and labels, to another such tensor."""

    def __init__(self, labels: Labels[T]) -> None:
        self.labels = labels

    def apply(self, name: str, x: T, y: T) -> T:
        operation: Callable[[T, T], T] = getattr(self, name)
        return operation(x, y)

    def add(self, x: T, y: T) -> T:
        return x + y

    def subtract(self, x: T, y: T) -> T:
        return x - y * 0.5

    def subtract_from_number(self, x: T, y: T) -> T:
        return 2.0 - x

    def multiply(self, x: T, y: T) -> T:
        return x.tanh() * y

    def divide(self, x: T, y: T) -> T:
        return x / (y.square() + 1.0)

    def divide_number(self, x: T, y: T) -> T:
        return 1.0 / (x.square() + 1.0)

    def power(self, x: T, y: T) -> T:
        return (x.sigmoid() + 0.5) ** y.tanh()

    def negate(self, x: T, y: T) -> T:
        return -x

    def maximum(self, x: T, y: T) -> T:
        return x.maximum(y)

    def relu(self, x: T, y: T) -> T:
        return x.relu()

    def choose(self, x: T, y: T) -> T:
        return x.where(x > y, 0.0) + y.where(~(x.equal(y) | (y < 0.0)), x)

    def clip(self, x: T, y: T) -> T:
        return x.clip(-1.0, 1.0)

    def same_as_before(self, x: T, y: T) -> T:
        return (x + y) * (x + y)

    def unused(self, x: T, y: T) -> T:
        y.exp().sum()
        return x

    def constants(self, x: T, y: T) -> T:
        return x + x.ones((COLUMNS,)) * 2.0 + x.full((), 0.25).exp()

    def centre(self, x: T, y: T) -> T:
        return x - x.mean(0, keepdims=True)

    def scale(self, x: T, y: T) -> T:
        return x / (1.0 + x.square().sum(-1, keepdims=True)).sqrt()  # the root of 0 has no derivative

    def softmax(self, x: T, y: T) -> T:
        return x.softmax(-1)

    def log_softmax(self, x: T, y: T) -> T:
        return x.log_softmax(0) * 0.1

    def largest(self, x: T, y: T) -> T:
        return x - x.max(1, keepdims=True)

    def product(self, x: T, y: T) -> T:
        return (x @ y.transpose()).tanh() @ y

    def turned(self, x: T, y: T) -> T:
        return (x.permute((1, 0)) + y.reshape((COLUMNS, ROWS))).reshape((ROWS, COLUMNS))

    def halves(self, x: T, y: T) -> T:
        return x[:, 2:].concatenate(y[:, :2], axis=1)

    def backwards(self, x: T, y: T) -> T:
        return x[::-1] + y.flip(1)

    def row(self, x: T, y: T) -> T:
        return x + y[1].broadcast_to((ROWS, COLUMNS))

    def picked(self, x: T, y: T) -> T:
        return x - y.pick(self.labels).reshape((ROWS, 1))

    def spread(self, x: T, y: T) -> T:
        return x + y.sum(1).put(self.labels, COLUMNS) * x.one_hot(self.labels, COLUMNS)

    def taken(self, x: T, y: T) -> T:
        return x.take(self.labels.reshape((ROWS,)), 1)[:, :1] + y

    def sorted(self, x: T, y: T) -> T:
        values, _ = x.topk(2, 1)
        return y * values.sum(1).reshape((ROWS, 1)).tanh() + x.sort(0)

    def powers(self, x: T, y: T) -> T:
        return x.cumsum(1) * 0.3 + y.var(1, keepdims=True).tanh()


NAMES: Final = sorted(name for name in vars(Operations) if not name.startswith("_") and name != "apply")
programs = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8
).map(tuple)


def values_of[T: MlpTensor](program: Program, x: T, y: T, labels: Labels[T]) -> tuple[T, ...]:
    """The last results of a program."""
    operations, values = Operations(labels), [x, y]
    for name, one, other in program:
        values.append(operations.apply(name, values[-1 - one % len(values)], values[-1 - other % len(values)]))
    return tuple(values[-3:])


def step(program: Program, x: Host, y: Host, labels: Labels[Host]) -> Outcome:
    """The last values, a gradient, and a second one: the Hessian times a vector."""

    def total[T: MlpTensor](x: T, other: T, labels: Labels[T]) -> T:
        return values_of(program, x, other, labels)[-1].sum()

    def plain(z: mx.BlasGrad[Host]) -> mx.BlasGrad[Host]:
        return total(z, mx.constant(y), labels.map(mx.constant))

    def twice(z: mx.ImageGrad[mx.ImageGrad[Host]]) -> mx.ImageGrad[mx.ImageGrad[Host]]:
        lifted = labels.map(mx.constant).map(mx.constant)
        return total(z, mx.constant(mx.constant(y)), lifted)

    return values_of(program, x, y, labels), mx.grad(plain, x), mx.hvp(twice, x, y)


def arrays(result: Outcome) -> list[NDArray[np.floating]]:
    values, *gradients = result
    return [one.to_host() for one in (*values, *gradients)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains are cut into blocks although the arrays are small: three rows into two blocks."""
    monkeypatch.setattr(schedule, "WORTH", 2)
    monkeypatch.setattr(host_plan, "BLOCK", 8)


def check(program: Program, alone: Pass) -> None:
    cpu = mx.numpy(mx.F64)
    compiled = [mx.compile(step, without=without) for without in variants(alone)]
    given_out: list[tuple[Outcome, list[NDArray[np.floating]]]] = []
    for number in range(3):
        x, y = (cpu.normal((ROWS, COLUMNS), key) for key in mx.Key(number).split())
        labels = cpu.labels(np.array([number, 3 - number, 1]))
        expected = arrays(step(program, x, y, labels))
        for one in compiled:
            result = one(program, x, y, labels)
            found = arrays(result)
            for mine, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)
            if number < 2:
                given_out.append((result, found))
    for result, before in given_out:
        for mine, theirs in zip(arrays(result), before, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_and_its_gradient_are_compiled_right(name: str) -> None:
    check(((name, 0, 1), (name, 0, 1), ("multiply", 0, 1)), PASSES[NAMES.index(name) % len(PASSES)])


@given(programs, st.sampled_from(PASSES))
@settings(max_examples=200)
def test_random_programs_are_compiled_right(program: Program, alone: Pass) -> None:
    check(program, alone)


@pytest.mark.slow
@given(programs, st.sampled_from(PASSES))
@settings(max_examples=1000)
def test_many_random_programs_are_compiled_right(program: Program, alone: Pass) -> None:
    check(program, alone)
