"""Data sets that live where tensors do give the batches of the host's, to the bit, on every backend."""

from typing import Any, assert_type

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import (
    Augmented,
    Crop,
    Cutout,
    DataLoader,
    DeviceDataset,
    Flip,
    Labelled,
    LabelledArrays,
    Normalize,
)
from moonxi.dtypes import BF16, F16, F32, F64
from moonxi.errors import AxisError, DataError, OperandError, ShapeError
from moonxi.key import Key
from tests.backends.on_gpu import gpu_or_skip

NORMALIZE = Normalize((0.1, 0.2, 0.3), (0.5, 1.0, 2.0))
STEPS: tuple[Any, ...] = (Crop(2), Crop(2, fill=0.5), Crop(2, mode="reflect"), Flip(), Flip(1.0), Cutout(3, fill=0.25))
GPU = [pytest.param(element, marks=pytest.mark.gpu) for element in (F32, F64, F16, BF16)]


def images[T: Any](like: T, count: int = 23) -> LabelledArrays[T]:
    stored = np.random.default_rng(0).integers(0, 256, (count, 3, 6, 8), np.uint8)
    return LabelledArrays(like, stored, np.arange(count) % 7, divisor=255)


def same(found: Labelled[Any], expected: Labelled[Any]) -> None:
    assert found.x.dtype is expected.x.dtype
    np.testing.assert_array_equal(found.x.to_host(), expected.x.to_host())
    np.testing.assert_array_equal(found.labels.to_host(), expected.labels.to_host())


def check(like: Any, steps: tuple[Any, ...], seed: int) -> None:
    host = images(like)
    there = DeviceDataset.of(host)
    same(there.batch(np.array([3, -1, 3, 0])), host.batch(np.array([3, -1, 3, 0])))
    loaders = [
        DataLoader(data, batch_size=5, seed=seed) for data in (there.augmented(steps), Augmented(host, tuple(steps)))
    ]
    for epoch in range(2):
        for found, expected in zip(*(loader.epoch(epoch) for loader in loaders), strict=True):
            same(found, expected)


@given(steps=st.lists(st.sampled_from(STEPS), max_size=4).map(tuple), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_a_loader_gives_the_batches_of_the_host(steps: tuple[Any, ...], seed: int) -> None:
    check(numpy(), steps, seed)


@pytest.mark.parametrize("element", GPU)
def test_a_loader_gives_the_batches_of_the_host_on_the_gpu(element: Any) -> None:
    for step in STEPS:
        check(gpu_or_skip(element)(), (step,), 1)
    check(gpu_or_skip(element)(), STEPS[1:], 2)


def test_normalised_images_are_those_of_the_host() -> None:
    check(numpy(), (Crop(1), NORMALIZE, Cutout(2)), 0)


@pytest.mark.gpu
def test_normalised_images_are_those_of_the_host_on_the_gpu() -> None:
    check(gpu_or_skip(F32)(), (Crop(1), NORMALIZE, Cutout(2)), 0)


@pytest.mark.gpu
def test_the_gpu_draws_what_the_cpu_draws() -> None:
    steps = (Crop(2), Flip(), NORMALIZE)
    batches: list[Labelled[Any]] = []
    like: Any
    for like in gpu_or_skip(F32)(), numpy():
        there = DeviceDataset.of(images(like)).augmented(steps)
        batches += DataLoader(there, batch_size=23, seed=3).epoch(1)
    found, expected = batches
    same(found, expected)


def test_samples_may_have_any_shape_and_type() -> None:
    for shape in (), (4,), (2, 3, 4, 5, 6):
        stored = np.random.default_rng(0).normal(size=(6, *shape))
        host = LabelledArrays(numpy(F64), stored, np.arange(6))
        there = DeviceDataset.of(host)
        assert_type(there, DeviceDataset[NpArray[F64]])
        assert_type(there.batch(np.array([0])), Labelled[NpArray[F64]])
        same(there.batch(np.array([5, 0, 2])), host.batch(np.array([5, 0, 2])))


def test_many_samples_are_brought_over_in_parts() -> None:
    stored = np.arange(10_000.0).reshape(5_000, 2)
    there = DeviceDataset.of(LabelledArrays(numpy(F64), stored, np.arange(5_000)))
    np.testing.assert_array_equal(there.batch(np.arange(5_000)[::-1]).x.to_host(), stored[::-1])
    assert repr(there) == "DeviceDataset(5000 samples: inputs (2,) F64, in NpArray)"


def test_wrong_positions_and_sources_are_refused() -> None:
    there = DeviceDataset.of(images(numpy()))
    with pytest.raises(AxisError, match="batch: 23 samples: position 23 lies outside"):
        there.batch(np.array([23]))
    with pytest.raises(DataError, match="a batch has at least one sample"):
        there.batch(np.array([], np.intp))
    empty = LabelledArrays(numpy(), np.zeros((0, 3)), np.zeros(0, np.int64))
    with pytest.raises(DataError, match=r"DeviceDataset.of: 0 samples: there is nothing to bring over"):
        DeviceDataset.of(empty)
    wrong: Any = DataLoader(images(numpy()), batch_size=4)
    with pytest.raises(OperandError, match=r"DeviceDataset.of: DataLoader: expected samples that can be had on the"):
        DeviceDataset.of(wrong)
    step: Any = lambda images, words: images  # noqa: E731  # a step of the host
    with pytest.raises(OperandError, match=r"augmented: function: expected steps that work on tensors"):
        there.augmented((step,))


@pytest.mark.parametrize("step", [Crop(1), Flip(), Cutout(1), NORMALIZE])
def test_steps_refuse_what_are_no_images(step: Any) -> None:
    with pytest.raises(ShapeError, match=rf"{type(step).__name__}: images \(2, 3\): expected \(images, channels"):
        step.on_tensors(numpy().ones((2, 3)), np.zeros((2, 4), np.uint64))


def test_a_mirror_larger_than_the_image_and_other_channels_are_refused() -> None:
    x = numpy().ones((2, 1, 3, 3))
    with pytest.raises(ShapeError, match="a mirror is smaller than the image"):
        Crop(3, mode="reflect").on_tensors(x, np.zeros((2, 4), np.uint64))
    with pytest.raises(ShapeError, match="3 means: one for each channel"):
        NORMALIZE.on_tensors(x)


def test_the_words_are_of_the_position_in_the_data_set() -> None:
    drawn = DeviceDataset.of(images(numpy())).augmented((Crop(2), Flip())).drawn(Key(5))
    whole = drawn.batch(np.arange(23)).x.to_host()
    np.testing.assert_array_equal(drawn.batch(np.array([7, 2])).x.to_host(), whole[[7, 2]])
