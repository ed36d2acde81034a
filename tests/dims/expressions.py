"""Random dimension expressions as Python text, which both ints and dims can evaluate."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from types import CodeType

from hypothesis import strategies as st

from moonxi.dims import Size, maximum, minimum, symbol

LEAST = {"a": 0, "b": 1, "c": -2}
SPAN = 6  # values of each name that are tried


@st.composite
def _combined(draw: st.DrawFn, parts: st.SearchStrategy[str]) -> str:
    left, right = draw(parts), draw(parts)
    divisor = draw(st.sampled_from(["2", "3", "4", "6", "b", "(-3)", right]))
    forms = (
        f"({left} + {right})",
        f"({left} - {right})",
        f"({left} * {right})",
        f"({left} // {divisor})",
        f"({left} % {divisor})",
        f"max({left}, {right})",
        f"min({left}, {right})",
    )
    return draw(st.sampled_from(forms))


_leaves = st.sampled_from([*LEAST, *LEAST]) | st.integers(-4, 8).map(
    lambda value: f"({value})" if value < 0 else str(value)
)

expressions: st.SearchStrategy[str] = st.recursive(_leaves, _combined, max_leaves=6)


def assignments(names: Mapping[str, int] = LEAST) -> Iterator[dict[str, int]]:
    """Every assignment of the first few values that the names may have."""
    for values in product(*(range(least, least + SPAN) for least in names.values())):
        yield dict(zip(names, values, strict=True))


def symbolic(text: str, least: Mapping[str, int] = LEAST) -> Size | None:
    """The expression over symbols; None where it divides by what is plainly zero."""
    names = {name: symbol(name, least=value) for name, value in least.items()}
    try:
        size: Size = eval(text, {"max": maximum, "min": minimum, **names})
    except ZeroDivisionError:
        return None
    return size


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<dimension>", "eval")


def direct(text: str, values: Mapping[str, int]) -> int | None:
    """The expression over ints; None where it divides by zero."""
    try:
        value: int = eval(_compiled(text), {"max": max, "min": min, **values})
    except ZeroDivisionError:
        return None
    return value
