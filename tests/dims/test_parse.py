from contextlib import suppress

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from moonxi.dims import Dim, parse, provably_different, symbol
from moonxi.errors import ShapeError
from tests.dims.expressions import expressions, symbolic

FROM_ZERO = {"a": 0, "b": 0, "c": 0}


@given(expressions)
@example("max(a % 2, a % 4)")
@example("(a + 4*(a // 4)) // 8 - a // 4")
@settings(deadline=None, max_examples=400)
def test_the_text_of_a_size_is_parsed_as_the_same_size(text: str) -> None:
    size = symbolic(text, FROM_ZERO)
    assume(size is not None)
    assert parse(str(size)) == size


@given(expressions)
@settings(deadline=None)
def test_parsing_an_expression_is_calculating_it(text: str) -> None:
    size = symbolic(text, FROM_ZERO)
    assume(size is not None)
    assert parse(text) == size


def test_a_name_is_a_symbol_from_zero_on_or_from_what_is_asked() -> None:
    assert parse("batch") == symbol("batch")
    assert provably_different(parse("batch", least=1), 0)


def test_spaces_around_and_inside_do_not_matter() -> None:
    assert parse("  ( h - 1 ) // 2 + 1 ") == parse("(h-1)//2+1")


def test_a_number_is_an_int() -> None:
    assert parse("784") == 784
    assert not isinstance(parse("2*3+1"), Dim)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("h/2", "a size is an integer; divide with //"),
        ("h**2", "only + - * // % combine sizes"),
        ("h//0", "divides by zero"),
        ("h%(2-2)", "divides by zero"),
        ("", "is not one expression"),
        ("a b", "is not one expression"),
        ("(h-1", "is not one expression"),
        ("h\0", "is not one expression"),
        ("1.5", "'1.5' is not a size"),
        ("True", "'True' is not a size"),
        ("'n'", "\"'n'\" is not a size"),
        ("self.din", "'self.din' is not a size"),
        ("f(n)", "'f(n)' is not a size"),
        ("max()", "'max()' is not a size"),
        ("n < 2", "'n < 2' is not a size"),
        ("~n", "'~n' is not a size"),
    ],
)
def test_what_is_no_dimension_is_refused_by_name(text: str, rule: str) -> None:
    with pytest.raises(ShapeError) as caught:
        parse(text)
    notation = "write names, integers, + - * // %, max(...) and min(...)"
    assert str(caught.value) == f"parse: dimension {text!r}: {rule}; {notation}"


@given(st.text(alphabet="ab12+-*/%() ,max", max_size=12))
@settings(deadline=None)
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with suppress(ShapeError):
        assert isinstance(parse(text), int | Dim)


def test_absurdly_deep_text_is_refused() -> None:
    with pytest.raises(ShapeError, match="is not one expression"):
        parse("(" * 5000 + "n" + ")" * 5000)
