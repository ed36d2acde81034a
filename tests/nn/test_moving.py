"""Models move to another element type or backend, and back."""

import numpy as np
import pytest

import moonxi as mx
from moonxi import nn
from moonxi.errors import OperandError
from moonxi.losses import Logits, cross_entropy


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


def test_the_labels_and_masks_of_a_batch_stay_what_they_are() -> None:
    like = mx.numpy()
    batch = mx.Labelled(like.from_host(np.eye(3)), like.labels(np.array([2, 0, 1])))
    moved = batch.map(nn.to(mx.numpy(mx.F64)))
    assert moved.x.dtype is mx.F64
    assert np.array_equal(moved.labels.to_host(), [2, 0, 1])
    assert moved.labels.to_host().dtype == np.int64
    assert cross_entropy(Logits(moved.x), moved.labels).item() > 0.0
    mask = (batch.x > 0.5).map(nn.to(mx.numpy(mx.F64)))
    assert np.array_equal(moved.x.where(mask, 7.0).to_host(), np.where(np.eye(3) > 0.5, 1.0, 7.0))


def test_labels_of_a_batch_stay_what_they_are_when_it_is_cast() -> None:
    cpu = mx.numpy()
    batch = mx.Labelled(cpu.ones((2, 3)), cpu.labels(np.array([1, 0])))
    wide = batch.map(lambda x: x.cast(mx.F64))
    assert wide.x.dtype is mx.F64
    assert wide.labels.to_host().tolist() == [1, 0]
    assert wide.labels.carrier.dtype is batch.labels.carrier.dtype
