"""Which sizes the plugin holds for different, and what it finds of unknown ones."""

from hypothesis import given
from hypothesis import strategies as st

from moonxi import dims, shapes
from moonxi.dims import Size
from moonxi.mypy_plugin.shapes.equations import Equations, certainly_differ, cut_apart, named
from moonxi.shapes import Sizes

NAMES = ("n", "m", "k")
SIZES: st.SearchStrategy[Size] = st.recursive(
    st.integers(1, 6) | st.sampled_from([named(name) for name in NAMES]),
    lambda inner: st.one_of(
        st.builds(lambda left, right: left + right, inner, inner),
        st.builds(lambda left, right: left * right, inner, inner),
        st.builds(lambda left, right: left // right, inner, st.integers(2, 4)),
        st.builds(dims.maximum, inner, inner),
    ),
    max_leaves=6,
)
VALUES = st.fixed_dictionaries({name: st.integers(2, 40) for name in NAMES})


@given(SIZES, SIZES, VALUES)
def test_sizes_that_are_the_same_by_another_way_never_differ(left: Size, right: Size, values: dict[str, int]) -> None:
    assert not certainly_differ(left, left)
    assert not certainly_differ(left + right, right + left)
    assert not certainly_differ((left + right) * left, left * left + right * left)
    if certainly_differ(left, right) and (dims.is_clamped(left) or dims.is_clamped(right)):
        assert dims.evaluate(left, values) != dims.evaluate(right, values)


@given(SIZES, SIZES, VALUES)
def test_sizes_that_some_remainder_makes_one_never_differ(left: Size, right: Size, values: dict[str, int]) -> None:
    if not certainly_differ(left, right):
        return
    many = 12**5  # a multiple of all divisors of the divisors within each other
    others = ({name: value + many * more for name, value in values.items()} for more in range(8))
    assert any(dims.evaluate(left, one) != dims.evaluate(right, one) for one in others)


def test_other_names_differ_and_what_only_rounding_tells_apart_does_not() -> None:
    n, m = named("n"), named("m")
    assert certainly_differ(n, m)
    assert certainly_differ(n, 784)
    assert certainly_differ(n // 2, n)
    assert not certainly_differ(n // 2 * 2, n)
    assert not certainly_differ(dims.minimum(n, 10), 10)
    assert not certainly_differ((n - 1) // 2 + 1, n // 2)
    assert not certainly_differ(n // 4 * 4, n // 2 * 2)
    assert not certainly_differ(n // m * m, n)
    assert certainly_differ(n // 4, n // 2)
    assert certainly_differ(n // 2 * m, n * m)
    assert certainly_differ((n // 2 + 1) // 2, n // 4 + 1 + m)


def test_cuts_of_one_axis_to_two_numbers_are_apart() -> None:
    n, m = named("n"), named("m")
    first, second = dims.minimum(n, 32), dims.minimum(n, 16)
    for whole in (False, True):
        assert cut_apart(first, second, whole=whole)
        assert cut_apart(first, n - dims.maximum(n - 16, 0), whole=whole)
        assert not cut_apart(first, n - dims.maximum(n - 32, 0), whole=whole)
        assert cut_apart(first, n, whole=whole) == cut_apart(n, first, whole=whole) == whole
        for left, right in (
            *((first, first), (n, n), (first, 16), (32, 16), (first, dims.maximum(n - 32, 0))),
            *((first, dims.minimum(m, 16)), (dims.minimum(n, m), first), (2 * first, second), (n - 1, n)),
        ):
            assert not cut_apart(left, right, whole=whole)
            assert not cut_apart(right, left, whole=whole)


@given(SIZES, SIZES, st.booleans())
def test_cuts_are_apart_where_they_cut(left: Size, right: Size, whole: bool) -> None:
    if cut_apart(left, right, whole=whole):
        values = dict.fromkeys(NAMES, 12**5)
        assert dims.evaluate(left, values) != dims.evaluate(right, values)


@given(SIZES, st.integers(1, 5), st.integers(0, 5))
def test_an_unknown_is_what_the_first_equation_makes_it(size: Size, slope: int, offset: int) -> None:
    equations = Equations()
    unknown = equations.fresh()
    with equations.solving(equal=True):
        assert not shapes.differ(slope * unknown + offset, slope * size + offset)
    if not dims.is_rounded(size):
        assert equations.size(unknown) == size
    with equations.solving(equal=True):
        assert not shapes.differ(unknown, size)


def test_a_rule_that_broadcasts_says_nothing_of_an_unknown_that_may_be_one() -> None:
    equations = Equations()
    unknown = equations.fresh()
    ends: list[Sizes] = []
    with equations.solving(equal=False):
        ends = [shapes.broadcast("add", (named(name),), (unknown,)) for name in NAMES]
    assert ends == [(named(name),) for name in NAMES]
    assert equations.size(unknown) == unknown


def test_two_names_of_a_class_are_two_sizes_although_unknown() -> None:
    equations = Equations()
    left, right, other = dims.unknown("self.hidden"), named("outputs"), named("features")
    equations.keep_apart([left, right])
    for equal in (True, False):
        with equations.solving(equal=equal):
            assert shapes.differ(left, right)
            assert not shapes.differ(left, left)
    with equations.solving(equal=True):
        assert not shapes.differ(left, other)
    assert equations.size(left) == other


def test_what_a_branch_finds_is_forgotten_after_it() -> None:
    equations = Equations()
    unknown = equations.fresh()
    before = equations.known()
    with equations.solving(equal=True):
        assert not shapes.differ(unknown, 4)
        assert shapes.differ(unknown, 8)
        equations.forget(before)
        assert not shapes.differ(unknown, 8)


@given(SIZES, VALUES)
def test_a_size_is_rounded_if_a_quotient_in_it_is(size: Size, values: dict[str, int]) -> None:
    assert not dims.is_rounded(7)
    assert dims.is_rounded(named("n") // 2 + size) or "//" not in str(named("n") // 2 + size)
    assert dims.is_rounded(size) == ("//" in str(size))
