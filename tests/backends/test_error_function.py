"""The error function of `NpArray`, beside SciPy's in double precision."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erf as scipy_erf

from moonxi.backends.numpy.error_function import erf


def computed(x: NDArray[Any]) -> NDArray[Any]:
    """In an array of its own."""
    out = np.empty(x.shape, x.dtype)
    erf(x, out=out)
    return out


def test_single_precision_is_right_to_four_units_in_the_last_place() -> None:
    positive = np.concatenate([np.linspace(0.0, 6.0, 500_001), np.geomspace(1e-37, 1.0, 100_000)]).astype(np.float32)
    x = np.concatenate([positive, -positive])
    expected = scipy_erf(x.astype(np.float64))
    np.testing.assert_allclose(computed(x), expected, rtol=2.5e-7, atol=0.0)


def test_double_precision_is_scipys() -> None:
    x = np.linspace(-6.0, 6.0, 1001)
    np.testing.assert_array_equal(computed(x), scipy_erf(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_ends_at_one_without_a_warning(dtype: type[np.floating]) -> None:
    largest = np.finfo(dtype).max
    x = np.array([np.inf, largest, 6.5, 0.0, -0.0, -6.5, -largest, -np.inf, np.nan], dtype)
    with np.errstate(all="raise", under="ignore"):
        found = computed(x)
    np.testing.assert_array_equal(found, [1.0, 1.0, 1.0, 0.0, -0.0, -1.0, -1.0, -1.0, np.nan])
    assert np.signbit(found[4])
    assert not np.signbit(found[3])


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (1 << 13,), ((1 << 13) + 1,), (700, 700)])
def test_any_size_blocks_and_threads(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.testing.assert_allclose(computed(x), scipy_erf(x.astype(np.float64)), rtol=2.5e-7)


def test_views_and_the_same_memory() -> None:
    x = np.random.default_rng(0).standard_normal((40, 60)).astype(np.float32)
    expected = computed(x)
    np.testing.assert_array_equal(computed(x.T), expected.T)
    np.testing.assert_array_equal(computed(x[::2, ::3]), expected[::2, ::3])
    out = np.zeros((60, 40), np.float32)
    erf(x, out=out.T)
    np.testing.assert_array_equal(out.T, expected)
    erf(x, out=x)
    np.testing.assert_array_equal(x, expected)
