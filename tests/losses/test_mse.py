"""The mean squared error."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moonxi as mx
from moonxi.errors import OperandError, ShapeError
from moonxi.losses import mse

LIKE = mx.numpy(mx.F64)


@given(st.lists(st.integers(1, 4), max_size=3), st.integers(0, 2**32 - 1))
def test_the_value_is_numpys(shape: list[int], seed: int) -> None:
    both = np.random.default_rng(seed).normal(size=(2, *shape))
    x, y = both[0, ...], both[1, ...]
    assert mse(LIKE.from_host(x), LIKE.from_host(y)).item() == pytest.approx(((x - y) ** 2).mean(), rel=1e-13)


@pytest.mark.parametrize(("left", "right"), [((3, 1), (3,)), ((3,), (3, 1)), ((2, 3), (3,)), ((2, 3), ()), ((1,), ())])
def test_shapes_that_would_broadcast_are_refused(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    text = r"^mse \(prediction and target\): .* and .*: the shapes must be equal; reshape one of them if you mean it$"
    with pytest.raises(ShapeError, match=text):
        mse(LIKE.zeros(left), LIKE.zeros(right))


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_an_empty_batch_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"^mse: \(.*\): the mean over an empty batch$"):
        mse(LIKE.zeros(shape), LIKE.zeros(shape))


def test_two_element_types_are_refused() -> None:
    single: Any = mx.numpy().zeros((2,))
    with pytest.raises(OperandError, match=r"NpArray\[F64\] with NpArray\[F32\]: both operands must be NpArray\[F64\]"):
        mse(LIKE.zeros((2,)), single)
