"""Image folders: a sub-folder for each class, with the images of that class in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from moonxi import settings
from moonxi.data.dataset import LabelledArrays
from moonxi.data.image_file import SUFFIXES, Channels, decode_image, passed_over, read_file
from moonxi.data.labelled import Labelled
from moonxi.data.order import Indices, check_positions
from moonxi.dtypes import HostArray, HostLabels
from moonxi.errors import AxisError, DataError, OptionError
from moonxi.traits import Tensor


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImageFolder[T: Tensor]:
    """Images in files, decoded when a batch is made, in batches that live where ``like`` lives; see `image_folder`."""

    like: T
    paths: tuple[Path, ...]
    labels: HostLabels
    classes: tuple[str, ...]
    """What the labels 0, 1, ... mean."""
    channels: Channels
    size: tuple[int, int] | None

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"ImageFolder({len(self)} images in {len(self.classes)} classes, for {type(self.like).__name__})"

    def batch(self, indices: Indices, /) -> Labelled[T]:
        """The images at these positions, in this order, as float32 in [0, 1] of shape (n, channels, rows, columns).

        Raises `DataError` for no positions at all, a file that is no image (by its path), and images of several sizes
        if there is no ``size``; and `AxisError` for a position outside the data set."""
        x, labels = self.host_batch(indices)
        return Labelled(self.like.from_host(x), self.like.labels(labels))

    def host_batch(self, indices: Indices, /) -> tuple[HostArray, HostLabels]:
        """What `batch` gives, as arrays on the host; raises as it does."""
        check_positions("batch", len(self), indices)
        labels = self.labels.take(indices)
        pixels = self._decoded(indices).astype(np.float32)
        pixels /= np.float32(255)
        return pixels, labels

    def loaded(self) -> LabelledArrays[T]:
        """All images, decoded now and kept in memory as bytes: as a data set it gives the same batches, faster.

        Raises as `batch` does."""
        return LabelledArrays(self.like, self._decoded(np.arange(len(self))), self.labels, divisor=255)

    def __getitem__(self, chosen: Indices | slice, /) -> Self:
        """A part, as a data set; so `split` and `stratified_split` take image folders. Raises `AxisError`."""
        try:
            positions = np.arange(len(self))[chosen]
        except IndexError as error:
            raise AxisError(f"image_folder: {len(self)} images: {error}") from None
        return replace(self, paths=tuple(self.paths[at] for at in positions), labels=self.labels[positions])

    def _decoded(self, indices: Indices, /) -> NDArray[np.uint8]:
        pixels = np.empty((0,), np.uint8)
        for at, index in enumerate(indices):
            path = self.paths[index]
            image = decode_image(read_file(path), str(path), channels=self.channels, size=self.size)
            if at == 0:
                pixels = np.empty((len(indices), *image.shape), np.uint8)
            if image.shape != pixels.shape[1:]:
                raise DataError(
                    f"image_folder: {path}: {image.shape[1:]} pixels where {self.paths[indices[0]]} has "
                    f"{pixels.shape[2:]}: images of several sizes need size=(rows, columns)"
                )
            pixels[at] = image
        return pixels


def image_folder[T: Tensor](
    like: T,
    folder: Path | str,
    /,
    *,
    size: tuple[int, int] | None = None,
    channels: Channels = 3,
    classes: Sequence[str] | None = None,
) -> ImageFolder[T]:
    """The images ``folder/CLASS/FILE``: the sorted names of the sub-folders are the classes 0, 1, ...

    Within a class they are sorted by name. They become RGB, or grey if ``channels`` is 1, and have ``size`` (rows,
    columns) if it is given; see `moonxi.data.image_file.decode_image`. No file is read before its batch is made. With
    ``classes``, the sub-folders must be these, and are numbered in this order: so a test set has the labels of the
    training set.

    Names that begin with a dot, Thumbs.db and desktop.ini are passed over, and so are files beside the classes; all
    else in a class must be an image file. Raises `DataError` for a missing folder, one without classes or with others,
    a class without images, and a foreign file; and `OptionError` for a size below 1 or another number of channels."""
    if size is not None:
        rows, columns = size
        settings.whole("image_folder", 1, rows=rows, columns=columns)
    if channels not in (1, 3):
        raise OptionError(f"image_folder: channels={channels}: must be 1 (grey) or 3 (red, green, blue)")
    place = Path(folder)
    found = [path.name for path in _entries(place) if path.is_dir()]
    if not found:
        raise DataError(f"image_folder: {place}: expected a sub-folder for each class, found none")
    if classes is not None and (len(found) != len(classes) or set(found) != set(classes)):
        raise DataError(f"image_folder: {place}: expected the classes {sorted(classes)}, found {found}")
    names = tuple(found if classes is None else classes)
    files = [_images(place / name) for name in names]
    return ImageFolder(
        like=like,
        paths=tuple(path for paths in files for path in paths),
        labels=np.repeat(np.arange(len(files)), [len(paths) for paths in files]),
        classes=names,
        channels=channels,
        size=size,
    )


def _images(folder: Path, /) -> list[Path]:
    paths = _entries(folder)
    for path in paths:
        if path.suffix.lower() not in SUFFIXES or path.is_dir():
            raise DataError(
                f"image_folder: {path}: expected an image file ({' '.join(sorted(SUFFIXES))}): remove what is none"
            )
    if not paths:
        raise DataError(f"image_folder: {folder}: expected images of this class, found none")
    return paths


def _entries(folder: Path, /) -> list[Path]:
    """What is in a folder, sorted by name, without what is hidden or left there by an operating system."""
    try:
        paths = [path for path in folder.iterdir() if not passed_over(path.name)]
        return sorted(paths, key=lambda path: path.name)
    except OSError as error:
        raise DataError(f"image_folder: {folder}: cannot be read: {error.strerror or error}") from error
