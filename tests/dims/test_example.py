"""Numbers that stand for sizes."""

import copy
import operator
from collections.abc import Callable
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.dims import Example, Size, evaluate, example, symbol, symbolic

n, m = symbol("n", least=1), symbol("m", least=1)
OPERATIONS: tuple[Callable[[int, int], int], ...] = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
)


@given(
    st.lists(st.tuples(st.sampled_from(OPERATIONS), st.sampled_from(("n", "m", 1, 2, 5)), st.booleans()), max_size=6),
    st.integers(1, 50),
    st.integers(1, 50),
)
def test_arithmetic_goes_on_beside_that_of_the_sizes(
    steps: list[tuple[Callable[[int, int], int], str | int, bool]], first: int, second: int
) -> None:
    numbers = {"n": first, "m": second}
    plain, made = first, example(first, n)
    for operation, name, turned in steps:
        other = numbers[name] if isinstance(name, str) else name
        standing = example(other, {"n": n, "m": m}[name]) if isinstance(name, str) else other
        pairs = ((other, plain), (standing, made)) if turned else ((plain, other), (made, standing))
        try:
            plain = operation(*pairs[0])
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                operation(*pairs[1])
            return
        made = operation(*pairs[1])
        assert made == plain
    assert evaluate(symbolic(made), numbers) == plain
    assert evaluate(symbolic(-made), numbers) == -plain


def test_it_is_a_number_to_python_and_numpy_and_reads_as_its_size() -> None:
    size = example(6, 2 * n)
    assert isinstance(size, Example)
    assert size == 6
    assert f"{size} {(size, 3)}" == "2*n (2*n, 3)"
    assert len(range(size)) == 6
    assert np.arange(size).shape == (6,)
    assert np.zeros((size, 2)).shape == (6, 2)
    assert size / 4 == 1.5
    assert size * 0.5 == 3.0
    assert symbolic(prod((size, size, 2))) == 8 * n * n
    assert symbolic(sum([size, 1])) == 2 * n + 1
    assert symbolic(copy.deepcopy(size)) == 2 * n


def test_what_is_known_is_a_number_only() -> None:
    size = example(6, 2 * n)
    for known in (size - size, size // size, size * 0, example(3, 3)):
        assert type(known) is int


def test_it_leaves_no_trace_in_a_size() -> None:
    sizes: list[Size] = [n + example(6, m), example(6, m) * n]
    assert [str(size) for size in sizes] == ["n+6", "6*n"]
