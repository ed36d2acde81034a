import pickle
from dataclasses import FrozenInstanceError
from math import isnan

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from moonxi.dims import Dim, ceil_div, evaluate, maximum, minimum, substitute, symbol, symbols
from moonxi.errors import OperandError, ShapeError
from tests.dims.expressions import LEAST, assignments, direct, expressions, symbolic

n, m, k = symbol("n"), symbol("m"), symbol("k")


@given(expressions)
@example("(a // 3 + b) // c")
@example("a // (-3) // 2")
@settings(deadline=None, max_examples=150)
def test_a_dim_has_the_value_of_the_same_expression_of_ints(text: str) -> None:
    size = symbolic(text)
    assume(size is not None)
    assert size is not None
    for values in assignments():
        expected = direct(text, values)
        if expected is not None:
            assert evaluate(size, values) == expected


@given(expressions)
@settings(deadline=None, max_examples=150)
def test_substituting_ints_is_evaluating_and_gives_an_int(text: str) -> None:
    size = symbolic(text)
    assume(size is not None)
    assert size is not None
    for values in list(assignments())[::17]:
        expected = direct(text, values)
        if expected is not None:
            substituted = substitute(size, values)
            assert type(substituted) is int
            assert substituted == expected


@given(expressions, expressions)
@settings(deadline=None, max_examples=150)
def test_substituting_a_dim_is_evaluating_the_nested_expression(text: str, inner: str) -> None:
    outer, value = symbolic(text), symbolic(inner)
    assume(outer is not None and value is not None)
    assert outer is not None
    assert value is not None
    try:
        substituted = substitute(outer, {"a": value})
    except (ZeroDivisionError, ShapeError):
        return
    for values in list(assignments())[::7]:
        argument = direct(inner, values)
        if argument is None or argument < LEAST["a"]:
            continue
        expected = direct(text, {**values, "a": argument})
        if expected is not None:
            assert evaluate(substituted, values) == expected


@given(expressions)
@settings(deadline=None)
def test_a_result_without_names_is_an_int(text: str) -> None:
    size = symbolic(text)
    assert size is None or type(size) is int or symbols(size)


@given(expressions)
@settings(deadline=None)
def test_a_dim_survives_pickling_with_its_hash(text: str) -> None:
    size = symbolic(text)
    again = pickle.loads(pickle.dumps(size))
    assert again == size
    assert hash(again) == hash(size)


@given(st.integers(-20, 20), st.integers(-6, 6).filter(bool))
def test_ceil_div_of_ints_rounds_up(numerator: int, denominator: int) -> None:
    expected = -((-numerator) // denominator)
    assert ceil_div(numerator, denominator) == expected
    quotient = ceil_div(symbol("x", least=-20), denominator)
    assert evaluate(quotient, {"x": numerator}) == expected


def test_ceil_div_by_a_name_rounds_up() -> None:
    quotient = ceil_div(n, k)
    for values in assignments({"n": 0, "k": 1}):
        assert evaluate(quotient, values) == -(-values["n"] // values["k"])


def test_ints_on_the_left_work_like_ints_on_the_right() -> None:
    assert 1 + n == n + 1
    assert 2 * n == n * 2
    assert evaluate(7 - n, {"n": 3}) == 4
    assert evaluate(7 // n, {"n": 3}) == 2
    assert evaluate(7 % n, {"n": 3}) == 1


def test_minimum_and_maximum_of_ints_are_ints() -> None:
    assert maximum(3, 5, 4) == 5
    assert minimum(3, 5, 4) == 3


def test_a_dim_is_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        n.polynomial = m.polynomial  # type: ignore[misc]  # the error is what is tested


def test_a_dim_has_no_truth_value() -> None:
    with pytest.raises(OperandError, match=r"^bool: n\+1: whether it is zero is not known; ask equal\(n\+1, 0\)$"):
        bool(n + 1)


def test_a_dim_and_a_float_do_not_add() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        n + 1.5  # type: ignore[operator]  # the error is what is tested
    with pytest.raises(TypeError, match="unsupported operand"):
        1.5 * n  # type: ignore[operator]  # the error is what is tested


def test_what_is_no_size_gets_its_own_operator() -> None:
    class Metres:
        def __rmul__(self, other: Dim) -> str:
            return f"{other} metres"

    assert n * Metres() == "n metres"


def test_dividing_by_zero_raises_as_with_ints() -> None:
    with pytest.raises(ZeroDivisionError):
        n // 0
    with pytest.raises(ZeroDivisionError):
        n % (k - k)
    with pytest.raises(ZeroDivisionError):
        substitute(n // k, {"k": 0})


def test_substitution_is_simultaneous() -> None:
    assert substitute(n - m, {"n": m, "m": n}) == m - n


def test_symbols_are_found_inside_quotients_and_maxima() -> None:
    assert symbols(n // (m + 2) + maximum(k, 3)) == {"n", "m", "k"}
    assert symbols(7) == frozenset()


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ShapeError, match=r"^evaluate: m: the dimension has no value; give one$"):
        evaluate(n + m, {"n": 3})


def test_a_value_below_the_least_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"^substitute: n = -1: the dimension is at least 0$"):
        evaluate(2 * n, {"n": -1})


def test_a_power_is_a_product_or_a_number_that_is_not_known() -> None:
    assert n**2 == n * n
    assert n**0 == 1
    assert isnan((n + 1) ** 0.5)
    assert isnan(n**-1)
    with pytest.raises(TypeError):
        n ** "2"  # type: ignore[operator]  # refused before it runs, too
