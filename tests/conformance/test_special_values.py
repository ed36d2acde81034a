"""Values at the ends of what floating point holds, and derivatives at kinks."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from moonxi.autodiff import variable
from tests.conformance.backends import INTERPRETERS
from tests.conformance.suite import Suite

every_interpreter = pytest.mark.parametrize("suite", INTERPRETERS)

VALUES: list[tuple[str, Callable[[Any], Any], list[float], list[float]]] = [
    ("abs", lambda x: x.abs(), [-inf, -0.0, nan], [inf, 0.0, nan]),
    ("sign", lambda x: x.sign(), [-inf, 0.0, inf, nan], [-1.0, 0.0, 1.0, nan]),
    ("sigmoid", lambda x: x.sigmoid(), [-inf, -800.0, 0.0, 800.0, inf, nan], [0.0, 0.0, 0.5, 1.0, 1.0, nan]),
    ("softplus", lambda x: x.softplus(), [-800.0, 0.0, 800.0, nan], [0.0, np.log(2.0), 800.0, nan]),
    ("expm1", lambda x: x.expm1(), [1e-12, -inf, inf], [1e-12, -1.0, inf]),
    ("log1p", lambda x: x.log1p(), [1e-12, -1.0, inf, -2.0], [1e-12, -inf, inf, nan]),
    ("erf", lambda x: x.erf(), [-inf, 0.0, inf, nan], [-1.0, 0.0, 1.0, nan]),
    ("clip", lambda x: x.clip(-1.0, 2.0), [-inf, 0.5, inf, nan], [-1.0, 0.5, 2.0, nan]),
    ("minimum", lambda x: x.minimum(1.0), [nan, -inf, inf], [nan, -inf, 1.0]),
    ("sort", lambda x: x.sort(0), [nan, 1.0, -inf, inf], [-inf, 1.0, inf, nan]),
    ("sort, descending", lambda x: x.sort(0, descending=True), [1.0, nan, inf], [nan, inf, 1.0]),
    ("logsumexp", lambda x: x.logsumexp(0, keepdims=True), [1000.0, 1000.0], [1000.0 + np.log(2.0)]),
    ("logsumexp of nothing", lambda x: x.logsumexp(0, keepdims=True), [-inf, -inf], [-inf]),
    ("logsumexp of everything", lambda x: x.logsumexp(0, keepdims=True), [inf, 0.0], [inf]),
    ("norm", lambda x: x.norm(keepdims=True), [3e30, 4e30], [5e30]),
    ("norm of zeros", lambda x: x.norm(keepdims=True), [0.0, 0.0], [0.0]),
    ("var of one", lambda x: x.var(keepdims=True), [3.0], [nan]),
    ("std of equal ones", lambda x: x.std(keepdims=True), [3.0, 3.0], [0.0]),
    ("prod of none", lambda x: x[:0].prod(0, keepdims=True), [3.0], [1.0]),
]
DERIVATIVES: list[tuple[str, Callable[[Any], Any], list[float], list[float]]] = [
    ("abs at 0", lambda x: x.abs(), [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]),
    ("clip at its ends", lambda x: x.clip(-1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 1.0, 0.0]),
    ("minimum at a tie", lambda x: x.minimum(1.0), [0.0, 1.0, 2.0], [1.0, 0.5, 0.0]),
    ("norm at 0", lambda x: x.norm(), [0.0, 0.0], [0.0, 0.0]),
    ("norm", lambda x: x.norm(), [3.0, -4.0], [0.6, -0.8]),
    ("min at a tie", lambda x: x.min(), [1.0, 1.0, 2.0], [0.5, 0.5, 0.0]),
    ("prod with one 0", lambda x: x.prod(), [2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
    ("prod with two 0s", lambda x: x.prod(), [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    ("softplus", lambda x: x.softplus(), [-800.0, 0.0, 800.0], [0.0, 0.5, 1.0]),
    ("sigmoid", lambda x: x.sigmoid(), [-800.0, 0.0, 800.0], [0.0, 0.25, 0.0]),
    ("logsumexp of nothing", lambda x: x.logsumexp(), [-1e30, 0.0], [0.0, 1.0]),
]


@every_interpreter
@pytest.mark.parametrize(("name", "call", "given", "expected"), VALUES, ids=[name for name, *_ in VALUES])
def test_the_value_is_the_limit(
    suite: Suite[Any], name: str, call: Callable[[Any], Any], given: list[float], expected: list[float]
) -> None:
    with np.errstate(all="ignore"):
        found = call(suite.like.from_host(np.array(given))).to_host()
    np.testing.assert_allclose(found, np.array(expected, found.dtype), rtol=10 * suite.rounding, atol=0.0)


@every_interpreter
@pytest.mark.parametrize(("name", "call", "given", "expected"), DERIVATIVES, ids=[name for name, *_ in DERIVATIVES])
def test_the_derivative_is_the_documented_one(
    suite: Suite[Any], name: str, call: Callable[[Any], Any], given: list[float], expected: list[float]
) -> None:
    x = variable(suite.like.from_host(np.array(given)))
    found = call(x).sum().backward().of(x).to_host()
    np.testing.assert_allclose(found, expected, rtol=10 * suite.rounding, atol=10 * suite.rounding)
