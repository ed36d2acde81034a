"""What a checker would refuse, at run time: an argument of the wrong kind is named, also under differentiation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from moonxi.autodiff import variable
from moonxi.errors import OperandError
from tests.conformance.backends import INTERPRETERS
from tests.conformance.suite import Suite

CALLS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a size": (lambda x: x.zeros((2.5,)), "shape (2.5,): expected a tuple of whole numbers, such as (3, 4)"),
    "a shape": (lambda x: x.reshape(6), "reshape: shape 6: expected a tuple of whole numbers, such as (3, 4)"),
    "a list": (lambda x: x.reshape([6]), "reshape: shape [6]: expected a tuple of whole numbers, such as (3, 4)"),
    "an axis": (lambda x: x.sum(1.0), "sum: axis 1.0: expected a whole number, or a tuple of them for several"),
    "axes": (lambda x: x.max([0, 1]), "max: axis [0, 1]: expected a whole number, or a tuple of them for several"),
    "a truth value as a size": (lambda x: x.zeros((True,)), "shape (True,): expected a tuple of whole numbers"),
    "a truth value as an axis": (lambda x: x.sum(True), "sum: axis True: expected a whole number, or a tuple of them"),
    "nothing to fill with": (lambda x: x.full((2,), None), "full: fill=None: expected a Python number"),
    "a complex number": (lambda x: x.full((2,), 1j), "full: fill=1j: expected a Python number"),
    "a text": (lambda x: x.full((2,), "3"), "full: fill='3': expected a Python number"),
    "a list of numbers": (lambda x: x.full((2,), [1.0, 2.0]), "full: fill=[1.0, 2.0]: expected a Python number"),
    "a number of NumPy": (
        lambda x: x.full((2,), np.float32(3.0)),
        "full: fill=np.float32(3.0): expected a Python number; give a Python number, float(value)",
    ),
    "no lower bound": (lambda x: x.clip(None, 1.0), "clip: low=None: expected a Python number"),
    "no order": (lambda x: x.norm(0, order=None), "norm: order=None: expected a Python number"),
    "labels": (lambda x: x.take(x, 0), "expected Labels or a Mask"),
    "a mask": (lambda x: x.where(x, 0.0), "expected Labels or a Mask"),
}


@pytest.mark.parametrize("suite", INTERPRETERS)
@pytest.mark.parametrize(("call", "text"), CALLS.values(), ids=CALLS.keys())
def test_an_argument_of_the_wrong_kind_is_refused(suite: Suite[Any], call: Callable[[Any], object], text: str) -> None:
    x = suite.like.from_host(np.zeros((2, 3)))
    for tensor in (x, variable(x), variable(variable(x))):
        with pytest.raises(OperandError) as raised:
            call(tensor)
        assert text in str(raised.value)
