"""The rows of the normalisations."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from moonxi.traits import Shape
from tests.conformance import image_reference as reference
from tests.conformance.case import Case, Operation
from tests.conformance.draws import operands

some = st.sampled_from((2, 3, 1, 4))


@st.composite
def _shapes(draw: st.DrawFn, groups: int = 1) -> Shape:
    """``(n, c, ...)`` with more than one value a channel."""
    rest = draw(st.lists(some, max_size=3))
    return (draw(st.integers(2, 4)), groups * draw(some), *rest)


def _options(draw: st.DrawFn) -> tuple[dict[str, float], float]:
    """An eps so large that difference quotients hold even where all values are nearly the same."""
    eps = draw(st.sampled_from((0.5, 1.0)))
    return {"eps": eps}, eps


@st.composite
def _batch_norm(draw: st.DrawFn, part: int) -> Case:
    shape = draw(_shapes())
    x, vectors = draw(operands(shape)), [draw(operands(shape[1:2])) for _ in range(2)]
    options, eps = _options(draw)

    def expected(x: Any, weight: Any, bias: Any) -> Any:
        mean, variance = reference.statistics(x)
        return (reference.normalised(x, mean, variance, weight, bias, eps), mean, variance)[part]

    return Case((x, *vectors), lambda x, weight, bias: x.batch_norm(weight, bias, **options)[part], expected)


@st.composite
def _batch_norm_grad(draw: st.DrawFn, part: int) -> Case:
    shape = draw(_shapes())
    x, dy = draw(operands(shape)), draw(operands(shape))
    weight, mean, variance = (draw(operands(shape[1:2], domain)) for domain in ("any", "any", "positive"))
    options, eps = _options(draw)
    return Case(
        (x, dy, weight, mean, variance),
        lambda x, dy, weight, mean, variance: x.batch_norm_grad(dy, weight, mean, variance, **options)[part],
        lambda x, dy, weight, mean, variance: reference.batch_norm_grad(x, dy, weight, mean, variance, eps)[part],
        same_bits=False,
    )


@st.composite
def _batch_norm_with(draw: st.DrawFn) -> Case:
    shape = draw(_shapes())
    mean, variance, weight, bias = (draw(operands(shape[1:2], d)) for d in ("any", "positive", "any", "any"))
    options, eps = _options(draw)
    return Case(
        (draw(operands(shape)), mean, variance, weight, bias),
        lambda x, *vectors: x.batch_norm_with(*vectors, **options),
        lambda x, mean, variance, weight, bias: reference.normalised(x, mean, variance, weight, bias, eps),
    )


@st.composite
def _group_norm(draw: st.DrawFn) -> Case:
    groups = draw(some)
    shape = draw(_shapes(groups))
    if np.prod(shape[1:]) == groups:  # one value a group is its own mean
        shape = (*shape, 3)
    x, vectors = draw(operands(shape)), [draw(operands(shape[1:2])) for _ in range(2)]
    options, eps = _options(draw)
    return Case(
        (x, *vectors),
        lambda x, weight, bias: x.group_norm(groups, weight, bias, **options),
        lambda x, weight, bias: reference.group_norm(x, groups, weight, bias, eps),
    )


NORMALISING = (
    Operation("batch_norm", "batch_norm", _batch_norm(0)),
    Operation("batch_norm mean", "batch_norm", _batch_norm(1)),
    Operation("batch_norm variance", "batch_norm", _batch_norm(2)),
    Operation("batch_norm_grad", "batch_norm_grad", _batch_norm_grad(0)),
    Operation("batch_norm_grad weight", "batch_norm_grad", _batch_norm_grad(1)),
    Operation("batch_norm_grad bias", "batch_norm_grad", _batch_norm_grad(2)),
    Operation("batch_norm_with", "batch_norm_with", _batch_norm_with()),
    Operation("group_norm", "group_norm", _group_norm()),
)
