"""F16 and BF16 on the GPU: the rows of the conformance suite, with the tolerances that these types allow."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.backends.cupy import bits
from moonxi.dtypes import BF16, F16, F32
from moonxi.key import Key
from tests.backends.on_gpu import gpu_or_skip
from tests.conformance.case import Operation
from tests.conformance.draws import seeds
from tests.conformance.operations import OPERATIONS
from tests.conformance.suite import Suite


class NarrowSuite(Suite[Any]):
    """Each operation of several rounds each time, by half a unit in the last place."""

    @property
    def rounding(self) -> float:
        return 16 * 2.0 ** (-11 if self.like.dtype is F16 else -8)


SUITES = [pytest.param(gpu_or_skip(element), id=element.__name__, marks=pytest.mark.gpu) for element in (F16, BF16)]


@pytest.mark.parametrize("like", SUITES)
@pytest.mark.parametrize("operation", [pytest.param(one, id=one.name) for one in OPERATIONS])
@settings(max_examples=15)
@given(data=st.data())
def test_the_value_is_that_of_numpy_up_to_rounding(like: Any, operation: Operation, data: st.DataObject) -> None:
    suite = NarrowSuite(like())
    case = data.draw(operation.cases)
    suite.check_value(case)
    suite.check_value_under_differentiation(case)
    if operation.smooth:
        suite.check_gradient(case, data.draw(seeds))


@pytest.mark.parametrize("like", SUITES)
def test_uniform_numbers_are_the_upper_bits_of_half_words(like: Any) -> None:
    kept = 11 if like().dtype is F16 else 8
    single = gpu_or_skip(F32)().uniform((1001,), Key(5)).to_host().astype(np.float64)
    found = like().uniform((1001,), Key(5)).to_host().astype(np.float64)
    np.testing.assert_array_equal(found, np.floor(single * 2.0**kept) / 2.0**kept)
    assert found.max() < 1.0


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20))
def test_brain_floats_are_rounded_to_the_nearest(numbers: list[float]) -> None:
    array = np.array(numbers)
    found = bits.widened(bits.rounded(array, BF16), BF16).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        for number, near in zip(array, found, strict=True):
            if np.isnan(number):
                assert np.isnan(near)
                continue
            # No neighbour of the found number is nearer, and at a tie the last bit is even.
            word = int(bits.rounded(np.array([near]), BF16)[0])
            others = [bits.widened(np.array([word + step & 0xFFFF], np.uint16), BF16)[0] for step in (-1, 1)]
            if np.isfinite(near) and abs(number) < 3e38:
                gaps = [abs(float(other) - number) for other in others if np.isfinite(other)]
                assert all(abs(near - number) <= gap for gap in gaps)
                assert word % 2 == 0 or all(abs(near - number) < gap for gap in gaps)
