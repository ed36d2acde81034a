from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jaxtyping import Float, jaxtyped

from moonxi.dims import Size, symbol, unknown
from moonxi.errors import ShapeError
from moonxi.shapes import solving
from moonxi.shapes.specification import Names, fits, has_expressions, is_readable, sizes_for
from moonxi.traits import Shape

words = st.sampled_from(("a", "b", "#a", "_", "2", "rows=3", "1", "#2", "a*b", "a+1", "2*b", "min(a,b)"))
stars = st.sampled_from(("...", "*rest", "*rest", "*_x"))


@st.composite
def annotations(draw: st.DrawFn) -> str:
    found = draw(st.lists(words, max_size=3))
    if draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), draw(stars))
    return " ".join(found)


shapes = st.lists(st.sampled_from((1, 2, 2, 3, 4, 6)), max_size=4).map(tuple)


@jaxtyped(typechecker=None)
def in_jaxtyping(pairs: Sequence[tuple[str, Shape]]) -> list[bool]:
    return [isinstance(np.zeros(shape), cast(type, Float[np.ndarray, text])) for text, shape in pairs]


@settings(max_examples=300)
@given(st.lists(st.tuples(annotations(), shapes), min_size=2, max_size=4))
@example([("a b", (2, 3)), ("a*b *rest", (6, 1, 1)), ("*rest", (1, 1))])
def test_numbers_fit_where_jaxtyping_says_so(pairs: list[tuple[str, Shape]]) -> None:
    pairs = [("a b", (2, 3)), *pairs]  # jaxtyping cannot compute with names that are not bound
    names = Names()
    found = []
    for text, shape in pairs:
        trial = names.copy()
        found.append(fits(text, shape, trial, {}))
        if found[-1]:
            names.become(trial)
    assert found == in_jaxtyping(pairs)


n, m = symbol("n", least=1), symbol("m", least=1)


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        ("a", (n,), True),
        ("a a", (n, n), True),
        ("a a", (n, m), False),
        ("a 784", (n, 784), True),
        ("a 784", (784, n), False),
        ("a 2*a", (n, 2 * n), True),
        ("2*a a", (2 * n, n), True),
        ("2*a", (n,), False),
        ("a (a-1)//2+1", (n, (n + 1) // 2), True),
        ("a b max(a,b)", (n, n, n), True),
        ("*rest a", (n, m, 3), True),
        ("#a a", (1, n), True),
        ("{self}", (n,), True),
        ("2*{self}", (2 * n,), True),
        ("a {self}", (n, m), False),
    ],
)
def test_symbolic_sizes_fit_if_they_do_for_all_values(text: str, shape: tuple[Size, ...], expected: bool) -> None:
    assert fits(text, shape, Names(), {"self": n}) is expected


def test_several_axes_of_one_name_are_the_same_each_time() -> None:
    names = Names()
    assert fits("*rest 3", (n, m, 3), names, {})
    assert fits("*rest", (n, m), names, {})
    assert not fits("*rest", (m, n), names, {})
    assert not fits("*rest", (n,), names, {})
    assert fits("*#other", (n, 1), names, {})
    assert fits("*#other", (1, m), names, {})
    assert names.several["other"] == (n, m)
    assert not fits("*#other", (4, m), names, {})


def test_what_names_stand_for_is_printed_where_it_says_more_than_the_name() -> None:
    names = Names()
    assert fits("n a *rest", (n, 2 * n, 3, m), names, {})
    assert str(names) == "a=2*n, rest=(3, m)"


def test_an_equation_with_an_unknown_goes_to_the_solver() -> None:
    heard: list[tuple[Size, Size]] = []

    def solver(left: Size, right: Size) -> bool:
        heard.append((left, right))
        return False

    with solving(solver):
        assert fits("784", (unknown("u"),), Names(), {})
    assert heard == [(784, unknown("u"))]


def test_a_name_is_not_taken_for_an_unknown_of_the_same_name() -> None:
    names = Names()
    assert fits("2*u", (2 * unknown("u") + 4,), names, {})
    assert names.sizes == {"u": unknown("u") + 2}


def test_a_shape_is_made_that_the_annotation_fits() -> None:
    names = Names({"c": 3})
    made = sizes_for(
        "batch c 2*h rows=4 _ {self.width} *lead #h",
        names,
        {"self": type("Layer", (), {"width": 7})()},
        size=lambda name: symbol(name, least=1),
        anonymous=lambda place: symbol(f"x{place}", least=1),
    )
    h = symbol("h", least=1)
    expected = (symbol("batch", least=1), 3, 2 * h, 4, symbol("x4", least=1), 7, symbol("lead", least=1), h)
    assert made == expected
    assert names.several == {"lead": (symbol("lead", least=1),)}


def test_what_is_read_here_and_what_is_an_expression() -> None:
    assert has_expressions("batch 2*d")
    assert has_expressions("batch d//{self.heads}")
    assert not any(map(has_expressions, ("batch d", "*rest #n rows=3 _", "2*{self.width}", "8//{self.heads}", "...")))
    assert is_readable("batch 2*d //2".replace(" //", "//"))
    assert not any(map(is_readable, ("abs(n)", "?n", "{self.width:d}", "n**2")))


def test_sizes_are_whole_numbers_of_any_kind() -> None:
    assert fits("{self}", (4,), Names(), {"self": np.int64(4)})
    assert fits("{self}/2", (2,), Names(), {"self": 4})
    names = Names()
    assert fits("a+b", (4,), names, {})
    assert (names.sizes, names.open) == ({}, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?a", "annotation: '?a': sizes that depend on a place in a tree are not read"),
        ("{self}", "annotation: '{self}': 'wide' is not a size"),
        ("3/2", "annotation: '3/2': 1.5 is not a size"),
    ],
)
def test_what_is_no_size_is_refused(text: str, message: str) -> None:
    with pytest.raises(ShapeError) as error:
        fits(text, (3,), Names(), {"self": "wide"})
    assert str(error.value) == message
