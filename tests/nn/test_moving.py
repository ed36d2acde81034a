"""Models move to another element type or backend, and back."""

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import OperandError


def test_a_model_moves_and_its_type_says_where() -> None:
    model = nn.Linear.init(3, 2, like=mx.numpy(), key=mx.Key(0))
    moved = model.map(nn.to(mx.numpy(mx.F64)))
    wide: mx.NpArray[mx.F64] = moved.weight
    assert wide.dtype is mx.F64
    back = moved.map(nn.to(mx.numpy()))
    assert np.array_equal(back.weight.to_host(), model.weight.to_host())


def test_a_cast_rounds_to_another_element_type() -> None:
    x = mx.numpy(mx.F64).from_host(np.array([0.1, -2.0]))
    single = x.cast(mx.F32)
    assert single.dtype is mx.F32
    assert np.array_equal(single.to_host(), np.array([0.1, -2.0], np.float32))
    assert np.array_equal(x.cast(mx.F64).to_host(), x.to_host())
    with pytest.raises(OperandError, match="cast: element type BF16: this backend computes in F32 and F64"):
        x.cast(mx.BF16)
