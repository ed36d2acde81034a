"""A check that passed before is not made again, and never hides an error: whatever was called before, in any order."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float, Float32

import moonxi as mx
from moonxi import nn
from moonxi.errors import MoonxiError
from tests.nn.models import CPU, line

SINGLE = mx.numpy()


@dataclass(frozen=True)
class Slice[T: mx.Tensor](nn.Module[T]):
    """Takes ``inputs`` columns, and gives the first ``keep`` of them, which its annotation says are 2."""

    scale: T
    inputs: int
    keep: int

    def forward(self, x: Float[T, "batch {self.inputs}"], y: Float32[T, " batch"] | None, /) -> Float[T, "batch 2"]:
        return (x * self.scale)[:, : self.keep]


@dataclass(frozen=True)
class Call:
    """One call of a `Slice`."""

    inputs: int
    keep: int
    x: tuple[int, ...]
    y: tuple[int, ...] | None
    y_is_single: bool
    levels: int
    kind: str

    def is_right(self) -> bool:
        """What the annotations say, in plain Python."""
        y_fits = self.y is None or (self.y_is_single and self.y == self.x[:1])
        return (
            self.kind == "tensor"
            and len(self.x) == 2
            and self.x[1] == self.inputs
            and y_fits
            and min(self.keep, self.inputs) == 2
        )

    def passes(self) -> bool:
        """What a run says."""
        model: Any = Slice(SINGLE.ones(()), self.inputs, self.keep)
        x: Any = SINGLE.ones(self.x)
        y: Any = None if self.y is None else (SINGLE if self.y_is_single else CPU).ones(self.y)
        for _ in range(self.levels):
            model, x, y = model.map(mx.variable), mx.variable(x), None if y is None else mx.variable(y)
        if self.kind == "ndarray":
            x = x.to_host()
        elif self.kind == "labels":
            x = SINGLE.labels(x.to_host().astype(int))
        try:
            model.forward(x, y)
        except MoonxiError:
            return False
        return True


sizes = st.integers(1, 3)
calls = st.builds(
    Call,
    inputs=sizes,
    keep=sizes,
    x=st.one_of(st.tuples(sizes, sizes), st.tuples(sizes)),
    y=st.one_of(st.none(), st.tuples(sizes)),
    y_is_single=st.booleans(),
    levels=st.integers(0, 2),
    kind=st.sampled_from(["tensor", "tensor", "tensor", "ndarray", "labels"]),
)


@given(st.lists(calls, min_size=1, max_size=15))
def test_every_call_passes_or_fails_as_it_would_alone(sequence: list[Call]) -> None:
    for call in sequence:
        assert call.passes() == call.is_right(), call


@given(st.permutations([(inputs, columns) for inputs in (2, 3) for columns in (2, 3)] * 2))
def test_layers_of_one_class_and_other_widths_are_each_checked_by_their_own(order: list[tuple[int, int]]) -> None:
    for inputs, columns in order:
        layer, x = line(inputs, 4), CPU.ones((5, columns))
        if inputs == columns:
            layer.forward(x)
        else:
            with pytest.raises(MoonxiError, match=rf'expected Float\[T, "\*batch {inputs}"\], got .* \(5, {columns}\)'):
                layer.forward(x)


def test_more_kinds_of_calls_than_are_remembered_are_all_checked() -> None:
    layer, x = line(2, 3), CPU.ones((2000, 2))
    for rows in (*range(0, 2000, 7), *range(2000)):
        layer.forward(x[:rows])
    for wrong in (x[:, :1], x[:5, :1], x[:1999, :1]):
        with pytest.raises(MoonxiError):
            layer.forward(wrong)


def test_a_setting_that_changes_the_shape_is_looked_at_in_each_call() -> None:
    @dataclass(frozen=True)
    class Widths(nn.Layer):
        sizes: list[int]

        def forward[T: mx.Tensor](self, x: Float[T, "batch {self.sizes[0]}"]) -> Float[T, "batch {len(self.sizes)}"]:
            return x

    x = CPU.ones((4, 2))
    layer = Widths([2, 3])
    for _ in range(2):
        layer.forward(x)
        layer.sizes[0] = 5
        with pytest.raises(MoonxiError, match=r'argument x: expected Float\[T, "batch 5"\]'):
            layer.forward(x)
        layer.sizes[:] = [2, 3, 4]
        with pytest.raises(MoonxiError, match=r'result: expected Float\[T, "batch 3"\], got NpArray\[F64\] \(4, 2\)'):
            layer.forward(x)
        layer.sizes[:] = [2, 3]
