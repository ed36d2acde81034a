from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.dims import Answer, Size, evaluate, parse, symbol, unify
from tests.dims.expressions import LEAST, assignments, direct, expressions, symbolic

n, h = symbol("n"), symbol("h", least=1)


@pytest.mark.parametrize(
    ("pattern", "actual", "given_bindings", "fits", "bindings"),
    [
        ("784", 784, {}, Answer.YES, {}),
        ("784", 783, {}, Answer.NO, {}),
        ("784", n, {}, Answer.UNKNOWN, {}),
        ("c", 64, {}, Answer.YES, {"c": 64}),
        ("c", n, {}, Answer.YES, {"c": n}),
        ("c", 64, {"c": 64}, Answer.YES, {"c": 64}),
        ("c", 64, {"c": 65}, Answer.NO, {"c": 65}),
        ("c", 64, {"c": n}, Answer.UNKNOWN, {"c": n}),
        ("2*c", 64, {}, Answer.YES, {"c": 32}),
        ("2*c", 65, {}, Answer.NO, {}),
        ("2*c", 2 * n, {}, Answer.YES, {"c": n}),
        ("2*c", 2 * n + 1, {}, Answer.NO, {}),
        ("2*c", n, {}, Answer.UNKNOWN, {"c": n // 2}),
        ("c+3", 5, {}, Answer.YES, {"c": 2}),
        ("c+3", 2, {}, Answer.NO, {}),
        ("c+3", n, {}, Answer.UNKNOWN, {"c": n - 3}),
        ("9-c", 5, {}, Answer.YES, {"c": 4}),
        ("9-c", 10, {}, Answer.NO, {}),
        ("b*c", 12, {"b": 4}, Answer.YES, {"b": 4, "c": 3}),
        ("b*c", 12, {"b": 5}, Answer.NO, {"b": 5}),
        ("b*c", 12, {"b": 0}, Answer.NO, {"b": 0}),
        ("b*c", 0, {"b": 0}, Answer.YES, {"b": 0}),
        ("b*c", 64 * h, {"b": h}, Answer.YES, {"b": h, "c": 64}),
        # With n = 0 any c would fit.
        ("b*c", 64 * n, {"b": n}, Answer.UNKNOWN, {"b": n}),
        ("c+h//2", 7, {"h": 9}, Answer.YES, {"h": 9, "c": 3}),
        ("(h-1)//2+1", 5, {"h": 9}, Answer.YES, {"h": 9}),
        ("(h-1)//2+1", 5, {"h": 11}, Answer.NO, {"h": 11}),
        ("h//2", 4, {}, Answer.UNKNOWN, {}),
        ("h//2+3", 2, {}, Answer.NO, {}),
        ("c*c", 64, {}, Answer.UNKNOWN, {}),
        ("a+b", 5, {}, Answer.UNKNOWN, {}),
        ("2*a+4*b", 5, {}, Answer.NO, {}),
    ],
)
def test_a_pattern_is_fitted(
    pattern: str, actual: Size, given_bindings: Mapping[str, Size], fits: Answer, bindings: Mapping[str, Size]
) -> None:
    before = dict(given_bindings)
    result = unify(parse(pattern), actual, given_bindings)
    assert result.fits is fits
    assert result.bindings == bindings
    assert given_bindings == before


def test_names_of_the_pattern_and_of_the_actual_size_are_apart() -> None:
    assert unify(parse("n"), n + 1, {}).bindings == {"n": n + 1}
    assert unify(parse("n+1"), n, {"n": n - 1}).fits is Answer.YES
    assert unify(parse("m*c"), n * h, {"m": h}).bindings == {"m": h, "c": n}
    # Were the two n one, the difference would be 1 whatever n is.
    assert unify(parse("n+m"), n - 1, {}).fits is Answer.UNKNOWN
    assert unify(parse("n+m"), n + symbol("n'") - 1, {}).fits is Answer.UNKNOWN
    assert unify(parse("n//2"), n // 2 + 1, {}).fits is Answer.UNKNOWN


@given(expressions, st.sampled_from(list(assignments())), st.sets(st.sampled_from(list(LEAST))))
@settings(deadline=None, max_examples=500)
def test_values_that_fit_are_never_excluded(text: str, values: dict[str, int], bound: set[str]) -> None:
    pattern, actual = symbolic(text), direct(text, values)
    if pattern is None or actual is None:
        return
    try:
        result = unify(pattern, actual, {name: values[name] for name in bound})
    except ZeroDivisionError:
        return
    assert result.fits is not Answer.NO
    # Bindings are forced: no other values than these make the pattern fit.
    assert result.bindings.items() <= values.items()
    if result.fits is Answer.YES:
        assert (
            evaluate(
                pattern,
                {**values, **{name: value for name, value in result.bindings.items() if isinstance(value, int)}},
            )
            == actual
        )


@given(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.sampled_from(["1", "d", "(d+1)", "(d//2)"])),
    st.sampled_from(["n", "2*n", "n+1", "4*n+2", "n*n", "n//2", "4*h", "h", "n*h", "0"]),
    st.sampled_from(["n", "h", "2*h", "3", "0"]),
)
@settings(deadline=None, max_examples=250)
def test_symbolic_fits_hold_under_every_assignment(linear: tuple[int, int, str], actual: str, bound: str) -> None:
    least = {"n": 0, "h": 1}
    pattern = f"{linear[0]}*{linear[2]}*c + {linear[1]}"
    size, d = symbolic(actual, least), symbolic(bound, least)
    assert size is not None
    assert d is not None
    result = unify(parse(pattern), size, {"d": d})
    for values in assignments(least):
        width, expected = evaluate(d, values), evaluate(size, values)
        fitting = {c for c in range(40) if direct(pattern, {"c": c, "d": width}) == expected}
        if result.fits is Answer.NO:
            assert not fitting
        if "c" in result.bindings:
            c = evaluate(result.bindings["c"], values)
            assert fitting <= {c}
            assert result.fits is not Answer.YES or fitting == {c}
