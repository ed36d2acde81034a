from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_type

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from moonxi.backends.numpy import NpArray, numpy
from moonxi.data import (
    Augmentation,
    Augmented,
    Crop,
    Cutout,
    DataLoader,
    Dataset,
    Flip,
    Labelled,
    LabelledArrays,
    Normalize,
    RandomDataset,
    Transformed,
)
from moonxi.data.augmentation import WORDS, Words
from moonxi.data.order import philox_words
from moonxi.dtypes import F32, F64, HostArray
from moonxi.errors import AxisError, DataError, OptionError, ShapeError
from moonxi.key import Key, philox

type Data = LabelledArrays[NpArray[F32]]
shapes = st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 9), st.integers(1, 9))


def numbered(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Images of which no two pixels are equal, and none is 0."""
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def words(count: int, seed: int = 0) -> Words:
    return philox_words(WORDS * count, Key(seed)).reshape(count, WORDS)


def photographs(count: int = 23) -> Data:
    stored = np.random.default_rng(0).integers(0, 256, (count, 3, 6, 8), np.uint8)
    return LabelledArrays(numpy(), stored, np.arange(count), divisor=255)


@given(shape=shapes, padding=st.integers(1, 4), fill=st.floats(-1, 1, width=32), seed=st.integers(0, 99))
def test_a_crop_is_a_window_of_the_padded_image(shape: tuple[int, ...], padding: int, fill: float, seed: int) -> None:
    before = numbered(shape)
    after = Crop(padding, fill=fill)(before, words(len(before), seed))
    assert after.shape == shape
    assert after.dtype == np.float32
    around = ((0, 0), (padding, padding), (padding, padding))
    for old, new, (down, right) in zip(before, after, places(padding, words(len(before), seed)), strict=True):
        padded = np.pad(old, around, constant_values=fill)
        assert np.array_equal(new, padded[:, down : down + shape[2], right : right + shape[3]])


def places(padding: int, random: Words) -> list[tuple[int, int]]:
    """In Python's own integers: the upper half of a word times the number of places, without its lower half."""
    one, other = ([(int(word) >> 32) * (2 * padding + 1) >> 32 for word in random[:, i]] for i in (0, 1))
    return list(zip(one, other, strict=True))


@given(padding=st.integers(1, 3), seed=st.integers(0, 99))
def test_a_crop_may_mirror_the_image_at_its_edge(padding: int, seed: int) -> None:
    before = numbered((5, 2, 4, 6))
    after = Crop(padding, mode="reflect")(before, words(5, seed))
    for old, new, (down, right) in zip(before, after, places(padding, words(5, seed)), strict=True):
        padded = np.pad(old, ((0, 0), (padding, padding), (padding, padding)), mode="reflect")
        assert np.array_equal(new, padded[:, down : down + 4, right : right + 6])


def test_every_window_is_as_likely() -> None:
    """Of 25 windows each comes 1,600 times in 40,000, with a deviation of 39."""
    count = 40_000
    before = np.broadcast_to(numbered((1, 1, 5, 5)), (count, 1, 5, 5))
    after = Crop(2)(before, words(count))
    times = np.unique(after.reshape(count, -1), axis=0, return_counts=True)[1]
    assert len(times) == 25
    assert times.min() > 1600 - 5 * 39
    assert times.max() < 1600 + 5 * 39


@given(shape=shapes, probability=st.sampled_from([0.0, 0.3, 0.5, 1.0]), seed=st.integers(0, 99))
def test_a_flip_keeps_the_values_and_its_own_inverse(shape: tuple[int, ...], probability: float, seed: int) -> None:
    before, random = numbered(shape), words(shape[0], seed)
    flip = Flip(probability)
    after = flip(before, random)
    assert np.array_equal(np.sort(after, axis=-1), before)
    assert np.array_equal(flip(after, random), before)
    for old, new, word in zip(before, after, random[:, 0], strict=True):
        assert np.array_equal(new, old[..., ::-1] if (int(word) >> 11) / 2**53 < probability else old)


def test_half_of_the_images_are_flipped() -> None:
    after = Flip()(np.broadcast_to(numbered((1, 1, 1, 2)), (10_000, 1, 1, 2)), words(10_000))
    assert abs(int((after[:, 0, 0, 0] == 2).sum()) - 5000) < 5 * 50


@given(shape=shapes, size=st.integers(1, 12), seed=st.integers(0, 99))
def test_a_cutout_fills_one_square_around_a_pixel_in_all_channels(shape: tuple[int, ...], size: int, seed: int) -> None:
    before = numbered(shape)
    after = Cutout(size, fill=-1)(before, words(shape[0], seed))
    assert after.dtype == np.float32
    for old, new, random in zip(before, after, words(shape[0], seed), strict=True):
        starts = [
            ((int(word) >> 32) * length >> 32) - size // 2 for word, length in zip(random, shape[2:], strict=False)
        ]
        rows, columns = (slice(max(start, 0), max(start + size, 0)) for start in starts)
        expected = old.copy()
        expected[:, rows, columns] = -1
        assert np.array_equal(new, expected)
        assert (new == -1).any()


@given(shape=shapes)
def test_normalised_images_are_less_the_mean_over_the_deviation(shape: tuple[int, ...]) -> None:
    mean, std = [0.1, 0.2, 0.3][: shape[1]], [2.0, 0.5, 4.0][: shape[1]]
    before = numbered(shape)
    after = Normalize(mean, std)(before)
    assert after.dtype == np.float32
    for channel in range(shape[1]):
        expected = (before[:, channel] - np.float32(mean[channel])) / np.float32(std[channel])
        assert np.array_equal(after[:, channel], expected)


@pytest.mark.parametrize("step", [Crop(2), Crop(2, mode="reflect"), Flip(), Cutout(3), Normalize((0, 0, 0), (1, 2, 3))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_step_writes_to_nothing_and_keeps_the_element_type(step: Augmentation, dtype: type[np.floating]) -> None:
    before = numbered((4, 3, 5, 6)).astype(dtype)
    before.flags.writeable = False
    after = step(before, words(4))
    assert after.dtype == dtype
    assert after.shape == before.shape
    assert np.array_equal(before, numbered((4, 3, 5, 6)))


STEPS: tuple[Augmentation, ...] = (
    Crop(2),
    Flip(),
    Flip(0.3),
    Normalize((0.5, 0.4, 0.3), (0.2, 0.2, 0.3)),
    Cutout(3),
)


def shown(loader: DataLoader[Labelled[NpArray[F32]]], epoch: int) -> dict[int, bytes]:
    """The bytes of each image by its label, which is its position."""
    return {
        int(label): image.tobytes()
        for batch in loader.epoch(epoch)
        for image, label in zip(batch.x.to_host(), batch.labels.to_host(), strict=True)
    }


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 25), st.integers(1, 25)), seed=st.integers(0, 2**64 - 1), epoch=st.integers(0, 99)
)
def test_what_becomes_of_an_image_depends_on_seed_epoch_and_position_alone(
    sizes: tuple[int, int], seed: int, epoch: int
) -> None:
    data = Augmented(photographs(), STEPS)
    one, other = (shown(DataLoader(data, batch_size=size, seed=seed), epoch) for size in sizes)
    assert one == other
    assert len(one) == len(data)
    beginning = shown(DataLoader(Augmented(photographs()[:9], STEPS), batch_size=4, seed=seed), epoch)
    assert beginning == {position: one[position] for position in range(9)}


def test_each_epoch_and_each_seed_shows_other_images() -> None:
    data = Augmented(photographs(), STEPS)
    first = shown(DataLoader(data, batch_size=5, seed=1), 0)
    for seed, epoch in (1, 1), (2, 0):
        again = shown(DataLoader(data, batch_size=5, seed=seed), epoch)
        assert sum(first[position] == again[position] for position in first) <= 2


def test_the_words_are_the_blocks_of_philox_for_step_and_position() -> None:
    given_words = []

    def spy(images: HostArray, random: Words, /) -> HostArray:
        given_words.append(random.tolist())
        return images

    key = Key(3, 7)
    Augmented(photographs(), (spy, spy)).drawn(key).batch(np.array([5, 2]))
    for step, found in enumerate(given_words):
        folded = key.fold(step)
        assert found == [list(philox((at + 1, 0, 0, 0), (folded.low, folded.high))) for at in (5, 2)]


def test_an_augmented_batch_is_the_steps_on_the_batch() -> None:
    key, chosen = Key(4), np.array([3, 0, 3])
    drawn = Augmented(photographs(), (Crop(1), Flip())).drawn(key)
    assert_type(drawn, Dataset[Labelled[NpArray[F32]]])
    batch = drawn.batch(chosen)
    plain = photographs().batch(chosen)
    every = [philox_words(WORDS * 23, key.fold(step)).reshape(23, WORDS)[chosen] for step in (0, 1)]
    assert np.array_equal(batch.x.to_host(), Flip()(Crop(1)(plain.x.to_host(), every[0]), every[1]))
    assert batch.labels.to_host().tolist() == [3, 0, 3]
    with pytest.raises(AxisError, match=r"^batch: 23 samples: position 23 lies outside"):
        drawn.batch(np.array([23]))


def test_a_test_set_goes_through_the_steps_that_are_not_random() -> None:
    normal = Normalize((0.5, 0.4, 0.3), (0.2, 0.2, 0.3))
    data = Transformed(photographs(), (normal, lambda images: images * 2))
    loader = DataLoader(data, batch_size=10)  # without a seed
    assert_type(loader, DataLoader[Labelled[NpArray[F32]]])
    expected = normal(photographs().batch(np.arange(10)).x.to_host()) * 2
    assert np.array_equal(next(loader.epoch(0)).x.to_host(), expected)
    assert len(data) == 23


def test_images_without_a_divisor_are_numbers_too() -> None:
    whole = LabelledArrays(numpy(F64), np.full((1, 1, 2, 2), 7, np.int32), np.array([0]))
    data = Transformed(whole, (Normalize([1], [4]),))
    assert data.batch(np.array([0])).x.to_host().tolist() == [[[[1.5, 1.5], [1.5, 1.5]]]]


def test_steps_of_which_none_is_random_need_no_seed() -> None:
    normal = Normalize((0.5, 0.4, 0.3), (0.2, 0.2, 0.3))
    first, second = (DataLoader(Augmented(photographs(), (normal,)), batch_size=23, seed=seed) for seed in (None, None))
    images = normal(photographs().batch(np.arange(23)).x.to_host())
    assert np.array_equal(next(first.epoch(0)).x.to_host(), images)
    assert np.array_equal(next(second.epoch(5)).x.to_host(), images)


def test_a_random_data_set_needs_a_seed() -> None:
    data = Augmented(photographs(), STEPS)
    assert isinstance(data, RandomDataset)
    with pytest.raises(
        DataError, match=r"^DataLoader: Augmented without a seed: its samples are random, so give seed="
    ):
        DataLoader(data, batch_size=2)


@dataclass(frozen=True)
class Dice:
    """A random data set of somebody's own: its samples are what the key says."""

    def __len__(self) -> int:
        return 4

    def drawn(self, key: Key, /) -> "Thrown":
        return Thrown(philox_words(4, key) % np.uint64(6))


@dataclass(frozen=True)
class Thrown:
    values: Words

    def __len__(self) -> int:
        return 4

    def batch(self, indices: NDArray[np.intp], /) -> list[int]:
        found: list[int] = self.values[indices].tolist()
        return found


def test_a_random_data_set_of_ones_own_is_drawn_each_epoch() -> None:
    loader = DataLoader(Dice(), batch_size=4, seed=0)
    assert_type(loader, DataLoader[list[int]])
    assert len({tuple(sorted(next(loader.epoch(epoch)))) for epoch in range(20)}) > 5
    assert list(loader.epoch(3)) == list(loader.epoch(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Crop(0), "^Crop: padding=0: must be at least 1"),
        (lambda: Crop(1, mode="wrap"), "^Crop: mode='wrap': must be 'fill' or 'reflect'$"),  # type: ignore[arg-type]
        (lambda: Flip(1.5), "^Flip: probability=1.5: must lie between 0 and 1$"),
        (lambda: Flip(float("nan")), "^Flip: probability=nan: must lie between 0 and 1$"),
        (lambda: Cutout(0), "^Cutout: size=0: must be at least 1$"),
        (lambda: Normalize((0.5,), (1, 1)), r"^Normalize: mean=\(0.5,\), std=\(1, 1\): one of each for a channel"),
        (lambda: Normalize((0.5,), (0,)), "^Normalize: std=0: must be positive and finite$"),
    ],
)
def test_an_option_without_sense_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


def test_images_that_do_not_fit_a_step_are_refused() -> None:
    flat, small = numbered((4, 12)), numbered((4, 1, 2, 3))
    for step in Crop(1), Flip(), Cutout(1), Normalize((0,), (1,)):
        with pytest.raises(ShapeError, match=r": images \(4, 12\): expected \(images, channels, rows, columns\)$"):
            step(flat, words(4))
    with pytest.raises(
        ShapeError, match=r"^Crop: images \(4, 1, 2, 3\), padding=2: a mirror is smaller than the image$"
    ):
        Crop(2, mode="reflect")(small, words(4))
    with pytest.raises(ShapeError, match=r"^Normalize: images \(4, 1, 2, 3\), 3 means: one for each channel$"):
        Normalize((0, 0, 0), (1, 1, 1))(small)
