"""The rows of the operations that work element by element."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.conformance.case import Case, Operation
from tests.conformance.draws import Domain, broadcasting, operands, seeds, shapes

numbers: st.SearchStrategy[float] = st.sampled_from((-1.5, 2, 0.5, np.float64(-0.25), 3.0))
exponents: st.SearchStrategy[float] = st.sampled_from((2, 3.0, -1, 0.5, 0, 1, -2.5))
whole_exponents: st.SearchStrategy[float] = st.sampled_from((2, 3, 0, 1, -1, -2))


def unary(
    name: str, call: Callable[[Any], Any], reference: Callable[..., Any], domain: Domain = "any", smooth: bool = True
) -> Operation:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        return Case((draw(operands(draw(shapes()), domain)),), call, reference)

    return Operation(name, name, cases(), smooth)


def binary(
    name: str,
    call: Callable[[Any, Any], Any],
    reference: Callable[..., Any],
    domains: tuple[Domain, Domain] = ("any", "any"),
    smooth: bool = True,
) -> Operation:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        left, right = draw(broadcasting(2))
        return Case((draw(operands(left, domains[0])), draw(operands(right, domains[1]))), call, reference)

    return Operation(f"{name} tensor", name, cases(), smooth)


def number(
    name: str,
    call: Callable[[Any, float], Any],
    reference: Callable[..., Any],
    domain: Domain = "any",
    given: st.SearchStrategy[float] = numbers,
    smooth: bool = True,
    title: str = "number",
) -> Operation:
    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        k = draw(given)
        return Case((draw(operands(draw(shapes()), domain)),), lambda x: call(x, k), lambda x: reference(x, k))

    return Operation(f"{name} {title}", name, cases(), smooth)


@st.composite
def _where(draw: st.DrawFn) -> Case:
    condition, left, right = draw(broadcasting(3))
    mask = np.asarray(np.random.default_rng(draw(seeds)).random(condition) < 0.5)
    return Case(
        (draw(operands(left)), draw(operands(right))),
        lambda x, y: x.where(x.from_host(mask.astype(np.float64)) > 0.5, y),
        lambda x, y: np.where(mask, x, y),
    )


@st.composite
def _where_number(draw: st.DrawFn) -> Case:
    condition, left = draw(broadcasting(2))
    mask = np.asarray(np.random.default_rng(draw(seeds)).random(condition) < 0.5)
    k = draw(numbers)
    return Case(
        (draw(operands(left)),),
        lambda x: x.where(x.from_host(mask.astype(np.float64)) > 0.5, k),
        lambda x: np.where(mask, x, k),
    )


@st.composite
def _masked_fill(draw: st.DrawFn) -> Case:
    condition, left = draw(broadcasting(2))
    mask = np.asarray(np.random.default_rng(draw(seeds)).random(condition) < 0.5)
    k = draw(numbers)
    return Case(
        (draw(operands(left)),),
        lambda x: x.masked_fill(x.from_host(mask.astype(np.float64)) > 0.5, k),
        lambda x: np.where(mask, k, x),
    )


@st.composite
def _clip(draw: st.DrawFn) -> Case:
    low, high = sorted((draw(even), draw(even)))
    return Case((draw(operands(draw(shapes()), "odd")),), lambda x: x.clip(low, high), lambda x: np.clip(x, low, high))


coarse: st.SearchStrategy[float] = st.sampled_from((-1, 0, 1.0, 0.5))
even: st.SearchStrategy[float] = st.sampled_from((-0.4, 0, 0.2))

ELEMENTWISE = (
    binary("__add__", lambda x, y: x + y, np.add),
    number("__add__", lambda x, k: x + k, np.add),
    number("__radd__", lambda x, k: k + x, np.add),
    binary("__sub__", lambda x, y: x - y, np.subtract),
    number("__sub__", lambda x, k: x - k, np.subtract),
    number("__rsub__", lambda x, k: k - x, lambda x, k: k - x),
    binary("__mul__", lambda x, y: x * y, np.multiply),
    number("__mul__", lambda x, k: x * k, np.multiply),
    number("__rmul__", lambda x, k: k * x, np.multiply),
    binary("__truediv__", lambda x, y: x / y, np.divide, ("any", "nonzero")),
    number("__truediv__", lambda x, k: x / k, np.divide),
    number("__rtruediv__", lambda x, k: k / x, lambda x, k: k / x, "nonzero"),
    binary("__pow__", lambda x, y: x**y, np.power, ("positive", "any")),
    number("__pow__", lambda x, k: x**k, np.power, "positive", exponents),
    number("__pow__", lambda x, k: x**k, np.power, "nonzero", whole_exponents, title="whole number"),
    number("__rpow__", lambda x, k: k**x, lambda x, k: k**x, given=st.sampled_from((0.5, 2, 3.0, 1))),
    unary("__neg__", lambda x: -x, np.negative),
    unary("exp", lambda x: x.exp(), np.exp),
    unary("log", lambda x: x.log(), np.log, "positive"),
    unary("expm1", lambda x: x.expm1(), np.expm1),
    unary("log1p", lambda x: x.log1p(), np.log1p, "positive"),
    unary("sin", lambda x: x.sin(), np.sin),
    unary("cos", lambda x: x.cos(), np.cos),
    unary("erf", lambda x: x.erf(), np.vectorize(math.erf, otypes=[np.float64])),
    unary("sigmoid", lambda x: x.sigmoid(), lambda x: 1.0 / (1.0 + np.exp(-x))),
    unary("softplus", lambda x: x.softplus(), lambda x: np.log(1.0 + np.exp(x)), "odd"),
    unary("abs", lambda x: x.abs(), np.abs, "odd"),
    unary("sign", lambda x: x.sign(), np.sign, "coarse", smooth=False),
    unary("tanh", lambda x: x.tanh(), np.tanh),
    unary("sqrt", lambda x: x.sqrt(), np.sqrt, "positive"),
    unary("floor", lambda x: x.floor(), np.floor, smooth=False),
    unary("square", lambda x: x.square(), np.square),
    unary("relu", lambda x: x.relu(), lambda x: np.maximum(x, 0.0), "odd"),
    binary("maximum", lambda x, y: x.maximum(y), np.maximum, ("even", "odd")),
    number("maximum", lambda x, k: x.maximum(k), np.maximum, "odd", even),
    binary("minimum", lambda x, y: x.minimum(y), np.minimum, ("even", "odd")),
    number("minimum", lambda x, k: x.minimum(k), np.minimum, "odd", even),
    Operation("clip", "clip", _clip()),
    binary("__lt__", lambda x, y: (x < y).to_tensor(x), np.less, ("coarse", "coarse"), False),
    number("__lt__", lambda x, k: (x < k).to_tensor(x), np.less, "coarse", coarse, False),
    binary("__le__", lambda x, y: (x <= y).to_tensor(x), np.less_equal, ("coarse", "coarse"), False),
    number("__le__", lambda x, k: (x <= k).to_tensor(x), np.less_equal, "coarse", coarse, False),
    binary("__gt__", lambda x, y: (x > y).to_tensor(x), np.greater, ("coarse", "coarse"), False),
    number("__gt__", lambda x, k: (x > k).to_tensor(x), np.greater, "coarse", coarse, False),
    binary("__ge__", lambda x, y: (x >= y).to_tensor(x), np.greater_equal, ("coarse", "coarse"), False),
    number("__ge__", lambda x, k: (x >= k).to_tensor(x), np.greater_equal, "coarse", coarse, False),
    binary("equal", lambda x, y: x.equal(y).to_tensor(x), np.equal, ("coarse", "coarse"), False),
    number("equal", lambda x, k: x.equal(k).to_tensor(x), np.equal, "coarse", coarse, False),
    binary("not_equal", lambda x, y: x.not_equal(y).to_tensor(x), np.not_equal, ("coarse", "coarse"), False),
    number("not_equal", lambda x, k: x.not_equal(k).to_tensor(x), np.not_equal, "coarse", coarse, False),
    Operation("masked_fill", "masked_fill", _masked_fill()),
    Operation("where tensor", "where", _where()),
    Operation("where number", "where", _where_number()),
    unary("stop_gradient", lambda x: x.stop_gradient(), lambda x: x, smooth=False),
)
