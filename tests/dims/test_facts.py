import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.dims import (
    Answer,
    Size,
    can_agree,
    can_differ,
    equal,
    less,
    maximum,
    parse,
    provably_at_most,
    provably_different,
    provably_equal,
    provably_less,
    symbol,
)
from moonxi.dims.bounds import lower, upper
from moonxi.dims.dim import polynomial_of
from moonxi.errors import OperandError
from tests.dims.expressions import assignments, direct, expressions, symbolic

h = symbol("h", least=1)


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two expressions, often related: unrelated ones are hardly ever provably anything."""
    left, other = draw(expressions), draw(expressions)
    number = draw(st.integers(-3, 3))
    related = (
        other,
        f"({left} + {number})",
        f"(2 * {other} + {left} + {number})",
        f"({other} * {left})",
        f"({left} // 2 + ({left} + 1) // 2)",
        f"max({left}, {other})",
        f"({left} - {left} % 4)",
        f"({left} * 3 // 2)",
    )
    return left, draw(st.sampled_from(related))


@given(_pairs())
@settings(deadline=None, max_examples=500)
def test_yes_and_no_hold_under_every_assignment(pair: tuple[str, str]) -> None:
    left, right = (symbolic(text) for text in pair)
    if left is None or right is None:
        return
    same, smaller = equal(left, right), less(left, right)
    differ = can_differ(left, right)
    assert not (differ and same is Answer.YES)
    assert differ or same is not Answer.NO
    for values in assignments():
        left_value, right_value = (direct(text, values) for text in pair)
        if left_value is None or right_value is None:
            continue
        if same is not Answer.UNKNOWN:
            assert (left_value == right_value) is (same is Answer.YES)
        if smaller is not Answer.UNKNOWN:
            assert (left_value < right_value) is (smaller is Answer.YES)


@given(expressions)
@settings(deadline=None, max_examples=300)
def test_no_value_lies_outside_the_bounds(text: str) -> None:
    size = symbolic(text)
    if size is None:
        return
    least, most = lower(polynomial_of(size)), upper(polynomial_of(size))
    for values in assignments():
        value = direct(text, values)
        if value is not None:
            assert least is None or least <= value
            assert most is None or value <= most


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("n", "n+1"),
        ("2*n", "2*m+1"),
        ("6*n+3*m", "3*k+1"),
        ("2*(n//2)+1", "2*m"),
        ("n-n%4+3", "4*m"),
        ("n*m", "-1"),
        ("n%4", "4"),
        ("n//2", "n+1"),
        ("min(n,5)", "6"),
        ("max(n,5)", "4"),
        ("n%(k+1)", "k+1"),
    ],
)
def test_sizes_that_never_meet_are_found_different(left: str, right: str) -> None:
    assert provably_different(parse(left), parse(right))
    assert provably_different(parse(right), parse(left))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("n", "1"),
        ("n", "m"),
        ("2*n", "n"),
        ("n*k", "m*k"),
        ("2*n", "m+1"),
        ("n//2", "m//2"),
        ("n%4", "3"),
        ("n*k", "n*k+k"),
        ("n-1", "0"),
        ("3//n", "m"),
    ],
)
def test_sizes_that_may_or_may_not_be_equal_are_unknown(left: str, right: str) -> None:
    assert equal(parse(left), parse(right)) is Answer.UNKNOWN
    assert can_differ(parse(left), parse(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("n-n//2", "(n-1)//2+1"),
        ("b*(n-n//2)", "b*((n+1)//2)"),
        ("2*n//3", "n-(n+2)//3"),
        ("min(n,m)+max(n,m)", "n+m"),
        ("max(n,m)-n", "max(m-n,0)"),
        ("n-2*(n//2)", "n%2"),
        ("(n//2)*2+n%2", "n"),
    ],
)
def test_sizes_that_are_always_equal_are_found_equal(left: str, right: str) -> None:
    assert provably_equal(parse(left), parse(right))
    assert not can_differ(parse(left), parse(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("n//2", "n"),
        ("n//3", "n//2"),
        ("n//5", "n//4"),
        ("min(n,m)", "n"),
        ("n", "max(n,m)"),
        ("n", "n+m*k"),
        ("n%k", "k"),
        ("n%2", "n%4"),
        ("(n-1)//2+1", "n"),
        ("0", "n*m"),
    ],
)
def test_orders_that_always_hold_are_found(left: str, right: str) -> None:
    assert provably_at_most(parse(left), parse(right))
    assert not provably_less(parse(right), parse(left))


def test_an_order_that_a_negative_value_breaks_is_not_claimed() -> None:
    c, n, m = symbol("c", least=-2), symbol("n"), symbol("m")
    assert not provably_at_most(c * n, c * maximum(n, m))
    assert not provably_at_most(c * c, maximum(c, 0) * maximum(c, 0))
    assert not provably_at_most(n // c, n)
    assert not provably_less(n % c, c)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (h, 0, Answer.NO),
        (h, 1, Answer.UNKNOWN),
        (h + 1, 1, Answer.NO),
        (2 * h, 3 * h, Answer.NO),
        (2 * h, h, Answer.NO),
        (64, 1, Answer.NO),
        (1, 1, Answer.YES),
        (h * symbol("w", least=2), h, Answer.NO),
    ],
)
def test_the_least_value_of_a_name_counts(left: Size, right: Size, expected: Answer) -> None:
    assert equal(left, right) is expected


def test_less_answers_for_ints() -> None:
    assert less(2, 3) is Answer.YES
    assert less(3, 3) is Answer.NO
    assert provably_at_most(3, 3)
    assert not provably_less(3, 3)


def test_an_answer_has_no_truth_value() -> None:
    with pytest.raises(OperandError, match=r"^bool: Answer.UNKNOWN: an answer is one of three; compare it"):
        bool(equal(h, 1))


@pytest.mark.parametrize(
    ("left", "right", "agree"),
    [
        ("h//2*2", "h", True),
        ("(h-1)//2+1", "h//2", True),
        ("h//2//2*4", "h", True),
        ("(h+3)//32*w", "h//32*w", True),
        ("h//k*k", "h", True),
        ("max(h//2, 3)", "h", True),
        ("h//4", "h//2", False),
        ("h//2+1", "h//2", False),
        ("(h//2)*(w//3)", "h*w", False),
        ("h//300*300", "h", True),
        ("h//300*299", "h", True),
    ],
)
def test_sizes_agree_if_some_remainders_make_them_one(left: str, right: str, agree: bool) -> None:
    assert can_agree(parse(left), parse(right)) is agree
