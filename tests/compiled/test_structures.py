"""Arguments are taken apart and put together again, told from others, and a difference is named."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi.compiled.building import builder
from moonxi.compiled.matching import matcher
from moonxi.compiled.structure import flattened
from moonxi.errors import CompileError

type Host = mx.NpArray[mx.F32]

CPU = mx.numpy()
TENSORS = [CPU.full((), float(number)) for number in range(3)] + [CPU.ones((2,)), CPU.ones((2, 3))]


class Pair(NamedTuple):
    """Two values by name."""

    one: object
    other: object


@dataclass(frozen=True)
class Box:
    """Two values in a dataclass."""

    first: object
    second: object = 1.0


leaves = st.one_of(
    st.sampled_from(TENSORS),
    st.sampled_from([mx.Key(0), mx.Key(1)]),
    st.sampled_from([None, True, 1, 1.0, 0.0, -0.0, "text", float("nan"), range(3), slice(1, 2), len, np.float64(2.0)]),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["a", "b", 3]), inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Box, inner, inner),
        inner.map(lambda one: Pair(one, one)),  # the same object twice
    ),
    max_leaves=12,
)


@given(values)
def test_what_is_taken_apart_is_put_together_again(value: object) -> None:
    found, structure = flattened(value, "value")
    again = builder(structure)(found.leaves)
    met, same = flattened(again, "again")
    assert same == structure
    assert [id(leaf) for leaf in met.leaves] == [id(leaf) for leaf in found.leaves]
    assert matcher(structure)(again) == found.leaves
    assert matcher(structure)(value) == found.leaves


def test_a_setting_that_is_not_a_number_is_equal_to_itself() -> None:
    def nan(x: Host, value: float) -> tuple[Host, float]:
        return x * value, value

    compiled = mx.compile(nan)
    for value in (float("nan"), float("nan"), -0.0):
        assert compiled(CPU.ones(()), value)[1] == pytest.approx(value, nan_ok=True)
    assert [trace.replays for trace in mx.compile_report(compiled).traces] == [1, 0]


@given(values, values)
def test_a_matcher_takes_what_has_the_structure_and_nothing_else(one: object, other: object) -> None:
    _, structure = flattened(one, "one")
    found, another = flattened(other, "other")
    matched = matcher(structure)(other)
    assert (matched is not None) == (repr(structure) == repr(another))
    assert matched is None or matched == found.leaves


@dataclass(frozen=True)
class Batch:
    """A batch."""

    x: Host
    size: int


def step(model: Host, batch: Batch, rate: float = 1.0, mode: mx.Mode | None = None, **named: object) -> Host:
    scale = 2.0 if isinstance(mode, mx.Train) else 1.0
    return model * batch.x.sum() * rate * scale


def test_the_report_says_why_a_step_was_traced_again() -> None:
    compiled = mx.compile(step)
    x, y = CPU.ones((3,)), CPU.ones((4,))
    compiled(x, Batch(y, 1))
    compiled(x, Batch(x, 1))
    compiled(x, Batch(y, 2))
    compiled(x, Batch(y, 2), 0.5)
    compiled(x, Batch(y, 2), 0.25)
    compiled(x, Batch(y, 2), 0.25, mx.Eval())
    compiled(x, Batch(y, 2), 0.25, mx.Train(mx.Key(0)))
    compiled(x, Batch(y, 2), 0.25, mx.Train(mx.Key(1)))
    compiled(x, Batch(y, 2), 0.25, mx.Train(mx.Key(1)), name="a")
    compiled(x, Batch(y, 2), 0.25, mx.Train(mx.Key(1)), name="b")
    traces = mx.compile_report(compiled).traces
    assert [trace.because for trace in traces] == [
        "the first call",
        "batch.x is NpArray F32[3], and was NpArray F32[4]",
        "batch.x is NpArray F32[4], and was NpArray F32[3]",
        "the call has 3 arguments by position, and had 2",
        "rate is 0.25, and was 0.5",
        "the call has 4 arguments by position, and had 3",
        "mode is Train, and was Eval",
        "what the call has by name is a dict of 'name', and was an empty dict",
        "name is 'b', and was 'a'",
    ]
    assert sum(trace.replays for trace in traces) == 1
    assert str(mx.compile_report(compiled)).startswith("trace 1: the first call: ")


def test_at_the_limit_the_error_says_what_changes() -> None:
    compiled = mx.compile(step)
    for size in range(1, 17):
        compiled(CPU.ones(()), Batch(CPU.ones((size,)), 1))
    with pytest.raises(
        CompileError, match=r"another one: batch\.x is NpArray F32\[17\], and was NpArray F32\[16\]: shapes"
    ):
        compiled(CPU.ones(()), Batch(CPU.ones((17,)), 1))


rate = 1.0


def scaled(x: Host) -> Host:
    return x * rate


def test_a_setting_outside_that_changed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = mx.compile(scaled)
    compiled(CPU.ones(()))
    monkeypatch.setitem(globals(), "rate", 2.0)
    compiled(CPU.ones(()))
    assert mx.compile_report(compiled).traces[1].because == f"rate of {__name__} changed"
