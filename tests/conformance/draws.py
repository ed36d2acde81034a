"""How operands are drawn: hypothesis chooses shapes, layouts and arguments; a seeded generator gives the elements."""

from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from moonxi.traits import Axes, Index, Shape
from tests.conformance.case import Float64s, Layout, Operand

type Domain = Literal["any", "positive", "nonzero", "distinct", "even", "odd", "coarse", "apart", "small"]

sizes = st.sampled_from((2, 3, 1, 4, 2, 3, 1, 0))
some = st.sampled_from((2, 3, 1, 4))
seeds = st.integers(0, 2**32 - 1)


def shapes(min_rank: int = 0, max_rank: int = 4) -> st.SearchStrategy[Shape]:
    return st.lists(sizes, min_size=min_rank, max_size=max_rank).map(tuple)


def elements(shape: Shape, domain: Domain, seed: int) -> Float64s:
    """Elements at least 0.05 away from where an operation on this domain has a kink."""
    rng = np.random.default_rng(seed)
    array: Any
    match domain:
        case "any":
            array = rng.uniform(-2.0, 2.0, shape)
        case "positive":
            array = rng.uniform(0.5, 2.0, shape)
        case "nonzero":
            array = rng.uniform(0.5, 2.0, shape) * rng.choice((-1.0, 1.0), shape)
        case "distinct":
            count = int(np.prod(shape))
            array = (rng.permutation(count).reshape(shape) - count / 2) * 0.1
        case "even":
            array = rng.integers(-5, 6, shape) * 0.2
        case "odd":
            array = rng.integers(-5, 5, shape) * 0.2 + 0.1
        case "small":
            array = rng.integers(-2, 3, shape) * 0.5
        case "apart":
            count = int(np.prod(shape))
            array = (rng.permutation(count).reshape(shape) + 1) * 0.1 * rng.choice((-1.0, 1.0), shape)
        case "coarse":
            array = rng.integers(-2, 3, shape)
    return np.asarray(array, np.float64)  # NumPy turns results without axes into scalars


@st.composite
def operands(draw: st.DrawFn, shape: Shape, domain: Domain = "any") -> Operand:
    """An operand of a shape; one in two does not lie contiguously."""
    layouts: tuple[Layout, ...] = ("plain",)
    if shape:
        layouts = ("plain", "plain", "plain", "plain", "transposed", "strided", "reversed", "offset")
        if domain not in ("distinct", "apart"):
            layouts = (*layouts, "repeated")
    layout = draw(st.sampled_from(layouts))
    array = elements(shape, domain, draw(seeds))
    return Operand(np.broadcast_to(array[:1], shape) if layout == "repeated" else array, layout)


@st.composite
def parts(draw: st.DrawFn, whole: Shape) -> Shape:
    """A shape that broadcasts to ``whole``."""
    kept = draw(st.integers(0, len(whole)))
    return tuple(draw(st.sampled_from((size, size, 1))) for size in whole[len(whole) - kept :])


@st.composite
def broadcasting(draw: st.DrawFn, count: int, max_rank: int = 4) -> tuple[Shape, ...]:
    """Shapes that broadcast with each other; often the same."""
    whole = draw(shapes(max_rank=max_rank))
    if draw(st.booleans()):
        return (whole,) * count
    return tuple(draw(parts(whole)) for _ in range(count))


@st.composite
def reductions(draw: st.DrawFn, rank: int) -> Axes:
    """Axes to reduce over: all, one or several, counted from either end."""
    from_either_end = [draw(st.sampled_from((number, number - rank))) for number in range(rank)]
    several = st.lists(st.sampled_from(from_either_end), unique=True).map(tuple) if rank else st.just(())
    one = st.sampled_from(from_either_end) if rank else st.none()
    return draw(st.one_of(st.none(), one, several))


def axes_of(shape: Shape) -> st.SearchStrategy[int]:
    """One axis, counted from either end."""
    return st.integers(-len(shape), len(shape) - 1)


@st.composite
def indices(draw: st.DrawFn, shape: Shape) -> Index:
    """What may stand between the brackets for a tensor of this shape."""
    named = draw(st.integers(0, len(shape)))
    front = draw(st.integers(0, named))
    chosen: list[Index] = []
    for position in (*range(front), *range(len(shape) - (named - front), len(shape))):
        size = shape[position]
        ends = st.none() | st.integers(-size - 2, size + 2)
        steps = st.none() | st.sampled_from((1, 2, 3, -1, -2))
        if size and draw(st.booleans()):
            chosen.append(draw(st.integers(-size, size - 1)))
        else:
            chosen.append(slice(draw(ends), draw(ends), draw(steps)))
    if named < len(shape) or draw(st.booleans()):
        chosen.insert(front, ...)
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        chosen.insert(draw(st.integers(0, len(chosen))), None)
    items = tuple(one for one in chosen if not isinstance(one, tuple))
    return items[0] if len(items) == 1 and draw(st.booleans()) else items
