"""Random changes to images that keep what they show, as steps on a batch on the host.

A step takes images ``(n, channels, rows, columns)`` and four random words for each of them, and gives new images.
The words are what makes it random: a step has no state and draws nothing itself, so that an image with the same words
is changed in the same way in whatever batch it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from moonxi import settings
from moonxi.dtypes import HostArray
from moonxi.errors import OptionError, ShapeError
from moonxi.traits import Shape, Tensor

type Words = NDArray[np.uint64]
"""Random words of shape ``(n, 4)``: a block of the Philox generator for each image."""

WORDS: Final = 4
"""How many random words a step has for an image."""


class Transform(Protocol):
    """Any function of a batch of images that is not random."""

    def __call__(self, images: HostArray, /) -> HostArray:
        """New images; those given are not written to."""
        ...


class Augmentation(Protocol):
    """Any function of a batch of images and random words."""

    def __call__(self, images: HostArray, words: Words, /) -> HostArray:
        """New images, each of which depends on its own words alone; those given are not written to."""
        ...


@dataclass(frozen=True, slots=True)
class Crop:
    """A window of the size of the image, at a random place of the image with ``padding`` pixels more on each side.

    Each of the (2 padding + 1)**2 places is as likely. The padding is ``fill``, or the image mirrored at its edge.
    Raises `OptionError` unless padding is at least 1, and `ShapeError` for a mirror larger than the image."""

    padding: int
    fill: float = 0.0
    mode: Literal["fill", "reflect"] = "fill"

    def __post_init__(self) -> None:
        settings.whole("Crop", 1, padding=self.padding)  # or there is only one window
        settings.numbers("Crop", settings.ANY, fill=self.fill)
        if self.mode not in ("fill", "reflect"):
            raise OptionError(f"Crop: mode={self.mode!r}: must be 'fill' or 'reflect'")

    def __call__(self, images: HostArray, words: Words, /) -> HostArray:
        count, _, rows, columns = _batch_shape("Crop", images.shape)
        if self.mode == "reflect" and self.padding >= min(rows, columns):
            raise ShapeError(f"Crop: images {images.shape}, padding={self.padding}: a mirror is smaller than the image")
        windows = np.lib.stride_tricks.sliding_window_view(self._padded(images), (rows, columns), axis=(2, 3))
        down, right = (_below(2 * self.padding + 1, words[:, word]) for word in (0, 1))
        return windows[np.arange(count), :, down, right]

    def on_tensors[T: Tensor](self, images: T, words: Words, /) -> T:
        """The same windows, of images that live anywhere: see `DeviceDataset`."""
        _, _, rows, columns = _batch_shape("Crop", images.shape)
        if self.mode == "reflect" and self.padding >= min(rows, columns):
            raise ShapeError(f"Crop: images {images.shape}, padding={self.padding}: a mirror is smaller than the image")
        down, right = (_below(2 * self.padding + 1, words[:, word])[:, None] for word in (0, 1))
        if self.mode == "fill":
            width = (self.padding, self.padding)
            images = images.pad(((0, 0), (0, 0), width, width), self.fill)
            places = down + np.arange(rows), right + np.arange(columns)
        else:
            places = self._mirrored(down, rows), self._mirrored(right, columns)
        return _rows_at(_columns_at(images, places[1]), places[0])

    def _mirrored(self, first: NDArray[np.intp], size: int, /) -> NDArray[np.intp]:
        """The places in an image that a window of its mirrored padding shows."""
        place = np.abs(first + np.arange(size) - self.padding)
        return np.where(place < size, place, 2 * (size - 1) - place)

    def _padded(self, images: HostArray, /) -> HostArray:
        width = ((0, 0), (0, 0), (self.padding, self.padding), (self.padding, self.padding))
        if self.mode == "reflect":
            return np.pad(images, width, mode="reflect")
        return np.pad(images, width, constant_values=self.fill)


@dataclass(frozen=True, slots=True)
class Flip:
    """The image, or with this probability its mirror image: left and right change sides.

    Raises `OptionError` unless 0 <= probability <= 1."""

    probability: float = 0.5

    def __post_init__(self) -> None:
        settings.numbers("Flip", settings.UNIT, probability=self.probability)

    def __call__(self, images: HostArray, words: Words, /) -> HostArray:
        _batch_shape("Flip", images.shape)
        return np.where(self._chosen(words)[:, None, None, None], images[..., ::-1], images)

    def on_tensors[T: Tensor](self, images: T, words: Words, /) -> T:
        """The same images, of such that live anywhere: see `DeviceDataset`."""
        columns = np.arange(_batch_shape("Flip", images.shape)[3])
        return _columns_at(images, np.where(self._chosen(words)[:, None], columns[::-1], columns))

    def _chosen(self, words: Words, /) -> NDArray[np.bool_]:
        """Which images are flipped."""
        # A double holds the upper 53 bits of a word exactly; those are below 1, so that probability 1 always flips.
        chosen: NDArray[np.bool_] = (words[:, 0] >> np.uint64(11)) * 2.0**-53 < self.probability
        return chosen


@dataclass(frozen=True, slots=True)
class Cutout:
    """The image without a square of ``size`` pixels, whose centre is at any pixel with the same likelihood.

    The square is filled with ``fill``, and is cut off at the edge of the image, as in T. DeVries and G. W. Taylor,
    "Improved regularization of convolutional neural networks with Cutout" (2017). There it follows `Normalize`, so
    that the square is the mean colour. Raises `OptionError` unless size is at least 1."""

    size: int
    fill: float = 0.0

    def __post_init__(self) -> None:
        settings.whole("Cutout", 1, size=self.size)
        settings.numbers("Cutout", settings.ANY, fill=self.fill)

    def __call__(self, images: HostArray, words: Words, /) -> HostArray:
        down, right = self._square(images.shape, words)
        return np.where(down & right, images.dtype.type(self.fill), images)

    def on_tensors[T: Tensor](self, images: T, words: Words, /) -> T:
        """The same images, of such that live anywhere: see `DeviceDataset`."""
        down, right = (images.from_host(one.astype(np.float32)) for one in self._square(images.shape, words))
        return images.masked_fill(down * right > 0.0, self.fill)

    def _square(self, shape: Shape, words: Words, /) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows and which columns of each image belong to the square."""
        _, _, rows, columns = _batch_shape("Cutout", shape)
        inside = [self._inside(length, _below(length, words[:, word])) for word, length in enumerate((rows, columns))]
        return inside[0][:, None, :, None], inside[1][:, None, None, :]

    def _inside(self, length: int, centres: NDArray[np.intp], /) -> NDArray[np.bool_]:
        """For each image, which places along an axis belong to the square."""
        from_start = np.arange(length) - (centres[:, None] - self.size // 2)
        inside: NDArray[np.bool_] = (from_start >= 0) & (from_start < self.size)
        return inside


@dataclass(frozen=True, slots=True)
class Normalize:
    """The images less a mean and divided by a standard deviation for each channel: a step that is not random.

    It is a `Transform` as well as an `Augmentation`. Raises `OptionError` unless there are as many means as
    deviations, and these are positive; and `ShapeError` for images with another number of channels."""

    mean: Sequence[float]
    std: Sequence[float]
    _factors: tuple[NDArray[np.float64], NDArray[np.float64]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.std):
            raise OptionError(f"Normalize: mean={self.mean}, std={self.std}: one of each for a channel")
        for mean, std in zip(self.mean, self.std, strict=True):
            settings.numbers("Normalize", settings.ANY, mean=mean)
            settings.numbers("Normalize", settings.POSITIVE, std=std)
        means, deviations = (np.array(values, np.float64).reshape(-1, 1, 1) for values in (self.mean, self.std))
        object.__setattr__(self, "_factors", (means, deviations))

    def __call__(self, images: HostArray, words: Words | None = None, /) -> HostArray:
        self._check(images.shape)
        mean, std = (factor.astype(images.dtype) for factor in self._factors)
        normal = images - mean
        normal /= std
        return normal

    def on_tensors[T: Tensor](self, images: T, words: Words | None = None, /) -> T:
        """The same images, of such that live anywhere: see `DeviceDataset`."""
        self._check(images.shape)
        mean, std = (images.from_host(factor) for factor in self._factors)
        return (images - mean) / std

    def _check(self, shape: Shape, /) -> None:
        if _batch_shape("Normalize", shape)[1] != len(self.mean):
            raise ShapeError(f"Normalize: images {shape}, {len(self.mean)} means: one for each channel")


def _below(bound: int, words: Words, /) -> NDArray[np.intp]:
    """From each word a number from 0 to bound - 1, all as likely but for one in 2**32 / bound."""
    return ((words >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)).astype(np.intp)


def _columns_at[T: Tensor](images: T, places: NDArray[np.intp], /) -> T:
    """Of each image the columns at its places ``(n, k)``."""
    return images.gather(images.labels(places[:, None, None, :]))


def _rows_at[T: Tensor](images: T, places: NDArray[np.intp], /) -> T:
    """Of each image the rows at its places."""
    return _columns_at(images.permute((0, 1, 3, 2)), places).permute((0, 1, 3, 2))


def _batch_shape(operation: str, shape: Shape, /) -> tuple[int, int, int, int]:
    if len(shape) != 4:
        raise ShapeError(f"{operation}: images {shape}: expected (images, channels, rows, columns)")
    count, channels, rows, columns = shape
    return count, channels, rows, columns
