import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.dims import (
    Size,
    ceil_div,
    evaluate,
    is_clamped,
    maximum,
    minimum,
    solve,
    substitute,
    symbol,
    unknown,
    unknowns,
    unrounded,
)

n, m = symbol("n", least=1), symbol("m", least=1)
u, v = unknown("u", least=1), unknown("v", least=1)


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        (u, 784, {"u": 784}),
        (784, u, {"u": 784}),
        (u, n, {"u": n}),
        (u, v, {"u": v, "v": u}),
        (2 * u, 64, {"u": 32}),
        (2 * u, 65, {"u": None}),
        (2 * u, n, {"u": None}),
        (2 * u, 2 * n + 4, {"u": n + 2}),
        (u + 3, 5, {"u": 2}),
        (u + 3, 2, {"u": None}),
        (n * 49 * u, n * 3136, {"u": 64}),
        (n * u, 3136, {"u": None}),
        (u * v, 12, {}),
        (u * u, 16, {}),
        ((u - 1) // 2 + 1, 8, {}),
        (n, m, {}),
    ],
)
def test_an_unknown_is_found_where_the_sizes_are_linear_in_it(left: Size, right: Size, found: dict[str, Size]) -> None:
    assert solve(left, right) == found


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 9), st.integers(-9, 9), st.integers(1, 9), st.integers(1, 50))
def test_what_is_found_solves_the_equation(slope: int, offset: int, value: int, other: int) -> None:
    left, right = slope * u + offset * n, slope * value + offset * n
    assert solve(left, right) == {"u": value}
    assert evaluate(substitute(left, {"u": value}), {"n": other}) == evaluate(right, {"n": other})


def test_an_unknown_is_no_symbol_of_the_same_name() -> None:
    assert unknown("n") != symbol("n")
    assert unknowns(u * n + 1) == {"u"}
    assert unknowns(ceil_div(u, 2) - n) == {"u"}
    assert unknowns(n) == unknowns(3) == frozenset()


def test_a_size_is_clamped_if_a_maximum_or_minimum_occurs_in_it() -> None:
    assert is_clamped(minimum(n, 64))
    assert is_clamped(2 * ((maximum(n, m) + 1) // 2))
    assert not is_clamped((n + m) // 2)
    assert not is_clamped(3)


def test_a_number_computed_from_symbolic_sizes_is_not_known() -> None:
    assert all(map(math.isnan, (1 / n, 1.0 / n, n / 2, n / m, n / 0.5, float(n))))
    with pytest.raises(TypeError):
        n / "2"


@pytest.mark.parametrize(
    ("left", "right", "name", "expected"),
    [
        (u // 2, n, "u", 2 * n),
        ((u - 1) // 2 + 1, n, "u", 2 * n),
        (u // 2 // 2, 7, "u", 28),
        (3 * (u // 2) + 1, 6 * n + 4, "u", 4 * n + 2),
        (u - u // 2, n, "u", 2 * n),
        (u // 2, u // 3 + n, "u", 6 * n),
    ],
)
def test_rounded_quotients_are_undone(left: Size, right: Size, name: str, expected: Size) -> None:
    assert unrounded(left, right) == {name: expected}


def test_what_no_value_makes_equal_is_not_undone() -> None:
    assert unrounded(2 * (u // 2), 7) == {}
    assert unrounded(u // 2, v // 2) == {"u": 2 * (v // 2), "v": 2 * (u // 2)}
    assert unrounded(u, 2 * n) == {}
    assert unrounded(n // 2, 3) == {}


@given(st.integers(1, 4), st.integers(1, 3), st.integers(-2, 3), st.integers(0, 5), st.integers(1, 60))
def test_what_undoes_a_quotient_makes_the_sizes_equal(
    divisor: int, slope: int, offset: int, added: int, wanted: int
) -> None:
    left = (slope * u + offset) // divisor + added
    for name, value in unrounded(left, wanted).items():
        assert isinstance(value, int)
        assert value >= 1
        assert evaluate(left, {name: value}) == wanted
