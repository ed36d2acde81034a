"""Collections of labelled images published as four IDX files, as MNIST and its relatives are."""

from dataclasses import dataclass
from importlib.resources.abc import Traversable
from math import prod
from pathlib import Path

import numpy as np

from moonxi.data.dataset import LabelledArrays, TrainTest
from moonxi.data.download import cache_folder, download_idx
from moonxi.data.idx import read_idx
from moonxi.errors import DataError, ShapeError
from moonxi.traits import Tensor


@dataclass(frozen=True, slots=True)
class IdxFile:
    """A published IDX file: its name without ``.gz``, and the SHA-256 of its uncompressed content."""

    name: str
    sha256: str

    def spellings(self) -> tuple[str, ...]:
        """The names it goes by: plain or compressed, with a dash or (as Kaggle has it) a dot before ``idx``."""
        return tuple(stem + ending for stem in (self.name, self.name.replace("-idx", ".idx")) for ending in ("", ".gz"))


@dataclass(frozen=True, slots=True)
class IdxPair:
    """The two files of one part of a collection."""

    images: IdxFile
    labels: IdxFile


@dataclass(frozen=True, slots=True)
class ImageCollection:
    """A collection of grey images, one byte a pixel, with a class each."""

    name: str
    """In messages, and of the folder in the cache."""
    train: IdxPair
    test: IdxPair
    image_shape: tuple[int, int]
    """Rows and columns."""
    classes: int
    mirrors: tuple[str, ...]
    """Where the files are to be had, compressed: URLs of folders, tried in turn."""

    @property
    def cache(self) -> Path:
        """Where downloads of it are kept unless another folder is named."""
        return cache_folder(self.name)

    def read[T: Tensor](
        self, like: T, folder: Traversable, /, *, shape: tuple[int, ...], verified: bool = False
    ) -> TrainTest[T]:
        """Both parts from a folder: pixels divided by 255 as float32 of shape ``(n, *shape)``, labels int64.

        The folder may hold any number of images in the form of the collection; if ``verified``, exactly the published
        ones. Raises `DataError` naming the file that is missing, damaged or something else, and `ShapeError` if an
        image does not fit ``shape``."""
        if min(shape, default=1) < 1 or prod(shape) != prod(self.image_shape):
            raise ShapeError(
                f"{self.name}: shape {shape}: an image has {prod(self.image_shape)} pixels, {self.image_shape}"
            )
        return TrainTest(
            train=self._part(like, folder, self.train, shape, verified),
            test=self._part(like, folder, self.test, shape, verified),
        )

    def download[T: Tensor](
        self,
        like: T,
        /,
        *,
        folder: Path | None = None,
        mirrors: tuple[str, ...] | None = None,
        shape: tuple[int, ...],
    ) -> TrainTest[T]:
        """Both parts, verified, after a download of the files that ``folder`` (by default a cache) does not have.

        No file that is there is overwritten. Raises as `read` does, and `DataError` if a file cannot be had."""
        folder = self.cache if folder is None else folder
        for file in (self.train.images, self.train.labels, self.test.images, self.test.labels):
            if self._find(folder, file) is None:
                name = f"{file.name}.gz"
                urls = [f"{mirror.rstrip('/')}/{name}" for mirror in (self.mirrors if mirrors is None else mirrors)]
                download_idx(urls, folder / name, sha256=file.sha256)
        return self.read(like, folder, shape=shape, verified=True)

    def _part[T: Tensor](
        self, like: T, folder: Traversable, pair: IdxPair, shape: tuple[int, ...], verified: bool, /
    ) -> LabelledArrays[T]:
        images_path, labels_path = self._path(folder, pair.images), self._path(folder, pair.labels)
        images = read_idx(images_path, sha256=pair.images.sha256 if verified else None)
        labels = read_idx(labels_path, sha256=pair.labels.sha256 if verified else None)
        if images.dtype != np.uint8 or images.ndim != 3 or images.shape[1:] != self.image_shape or len(images) == 0:
            raise DataError(
                f"{self.name}: {images_path}: expected images (1 or more, {self.image_shape[0]}, "
                f"{self.image_shape[1]}) of uint8, found {images.shape} of {images.dtype}"
            )
        if labels.dtype != np.uint8 or labels.shape != images.shape[:1]:
            raise DataError(
                f"{self.name}: {labels_path}: expected labels ({len(images)},) of uint8, one for each image in "
                f"{images_path}, found {labels.shape} of {labels.dtype}"
            )
        if labels.max() >= self.classes:
            at = int(np.argmax(labels >= self.classes))
            raise DataError(
                f"{self.name}: {labels_path}: expected labels from 0 to {self.classes - 1}, found {labels[at]} at {at}"
            )
        pixels = images.astype(np.float32).reshape(len(images), *shape)
        pixels /= np.float32(255)
        return LabelledArrays(like, pixels, labels.astype(np.int64))

    def _path(self, folder: Traversable, file: IdxFile, /) -> Traversable:
        path = self._find(folder, file)
        if path is None:
            found = "no such file" if folder.is_dir() else "no such folder"
            raise DataError(f"{self.name}: {folder}: expected a file {file.name} or {file.name}.gz, found {found}")
        return path

    def _find(self, folder: Traversable, file: IdxFile, /) -> Traversable | None:
        """The file under the first of its names that is there."""
        try:
            return next((path for name in file.spellings() if (path := folder.joinpath(name)).is_file()), None)
        except OSError as error:
            raise DataError(f"{self.name}: {folder}: cannot be read: {error.strerror or error}") from error
