"""CIFAR-10: small colour photographs of ten kinds of things (A. Krizhevsky, 2009).

"Learning Multiple Layers of Features from Tiny Images", technical report, University of Toronto.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from moonxi.data.archive import archive_files
from moonxi.data.cifar_batches import IMAGE_SHAPE, CifarBatch, decode_binary_batch, decode_python_batch
from moonxi.data.dataset import LabelledArrays, TrainTest
from moonxi.data.download import cache_folder, check_md5, download_file
from moonxi.data.image_archive import ArchivedImages
from moonxi.data.image_folder import image_folder
from moonxi.errors import DataError
from moonxi.traits import Tensor

CIFAR10_CLASSES: Final = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
"""What the labels 0 to 9 mean."""
_MIRRORS: Final = ("https://www.cs.toronto.edu/~kriz/",)
_PARTS: Final = ("train", "test")
_LARGEST_BATCH: Final = 1 << 26  # bytes


@dataclass(frozen=True, slots=True)
class _Form:
    """One of the two published forms: its archive, the folder in it, and how its files are named and read."""

    archive: str
    md5: str
    folder: str
    ending: str
    decode: Callable[[bytes, str], CifarBatch]

    def files(self, part: str, /) -> tuple[str, ...]:
        """The names of the files of a part, in order."""
        names = ("test_batch",) if part == "test" else tuple(f"data_batch_{number}" for number in range(1, 6))
        return tuple(name + self.ending for name in names)


_BINARY: Final = _Form(
    archive="cifar-10-binary.tar.gz",
    md5="c32a1d4ab5d03f1284b67883e8d87530",
    folder="cifar-10-batches-bin",
    ending=".bin",
    decode=decode_binary_batch,
)
_PYTHON: Final = _Form(
    archive="cifar-10-python.tar.gz",
    md5="c58f30108f718f92721af3b95e74349a",
    folder="cifar-10-batches-py",
    ending="",
    decode=decode_python_batch,
)
_FORMS: Final = (_BINARY, _PYTHON)  # the binary one first, which is read faster


def cifar10[T: Tensor](
    like: T,
    /,
    *,
    folder: Path | str | None = None,
    download: bool = False,
    mirrors: tuple[str, ...] = _MIRRORS,
) -> TrainTest[T]:
    """Photographs of 32 x 32 pixels in the ten classes `CIFAR10_CLASSES`, with batches that live where ``like`` lives.

    ``folder`` is one that holds the files of the binary or the "python" version, or the folder that these come in, or
    one of the two archives as published; or the path of such an archive itself. It may hold any number of images.
    It may also be a folder of images, or a tar archive of one: ``{train,test}/CLASS/FILE`` (needs Pillow). Their
    pixels are not the published ones if the format is lossy, which should be said beside an accuracy.

    With ``download=True``, the whole data set from a verified archive in ``folder`` (by default a cache of the
    user's), to which it is downloaded if neither is there, from the first of ``mirrors`` (URLs of folders) that has it.

    On the host the images are bytes of shape (n, 3, 32, 32), red, green and blue; a batch has them as float32 in
    [0, 1]. The labels are int64. The order is the published one, of images in folders that of class and name. Nothing
    that a file contains is executed, and archives are not unpacked onto the disk. Raises `DataError` if a file is
    missing, damaged or something else."""
    if download:
        return _read_archive(like, *_downloaded(cache_folder("cifar10") if folder is None else Path(folder), mirrors))
    if folder is None:
        raise DataError("cifar10: no folder: name the folder or the archive that you have, or ask with download=True")
    place = Path(folder)
    if place.is_dir():
        return _read_folder(like, place)
    if place.is_file():
        return _read_archive(like, place, _FORMS)
    raise DataError(f"cifar10: {place}: expected a folder or an archive, found nothing")


def _downloaded(folder: Path, mirrors: Sequence[str], /) -> tuple[Path, tuple[_Form, ...]]:
    """A verified archive of the folder, after a download if there is none; no file that is there is overwritten."""
    for form in _FORMS:
        path = folder / form.archive
        if path.is_file():
            try:
                content = path.read_bytes()
            except OSError as error:
                raise DataError(f"cifar10: {path}: cannot be read: {error.strerror or error}") from error
            check_md5(content, f"cifar10: {path}", form.md5)
            return path, (form,)
    if not mirrors:
        raise DataError(f"cifar10: {folder}: expected {_BINARY.archive} or {_PYTHON.archive}, found neither")
    path = folder / _BINARY.archive
    download_file([f"{mirror.rstrip('/')}/{_BINARY.archive}" for mirror in mirrors], path, md5=_BINARY.md5)
    return path, (_BINARY,)


def _read_folder[T: Tensor](like: T, folder: Path, /) -> TrainTest[T]:
    for place in (folder, *(folder / form.folder for form in _FORMS)):
        for form in _FORMS:
            if any((place / name).is_file() for part in _PARTS for name in form.files(part)):
                files = {name: _read(place / name) for part in _PARTS for name in form.files(part)}
                return _joined(like, form, files, f"{place}")
    if all((folder / name).is_dir() for name in _PARTS):
        return TrainTest(train=_image_part(like, folder / "train"), test=_image_part(like, folder / "test"))
    for form in _FORMS:
        if (folder / form.archive).is_file():
            return _read_archive(like, folder / form.archive, (form,))
    raise DataError(
        f"cifar10: {folder}: expected data_batch_1.bin, data_batch_1, train/ and test/, {_BINARY.archive} "
        f"or {_PYTHON.archive}, found none of them"
    )


def _read_archive[T: Tensor](like: T, path: Path, forms: Iterable[_Form], /) -> TrainTest[T]:
    names = {f"{form.folder}/{name}": form for form in forms for part in _PARTS for name in form.files(part)}
    files: dict[_Form, dict[str, bytes]] = {}
    images = ArchivedImages(path, _PARTS, CIFAR10_CLASSES, IMAGE_SHAPE)
    for name, content in archive_files(path, lambda name: name in names or images.wants(name)):
        if name in names:
            files.setdefault(names[name], {})[name.rpartition("/")[2]] = content
        else:
            images.add(name, content)
    if files:
        form, found = next(iter(files.items()))
        return _joined(like, form, found, f"{path}: {form.folder}")
    if not len(images):
        raise DataError(
            f"cifar10: {path}: expected files such as {next(iter(names))} or train/cat/0000.jpg, "
            "found none in this archive"
        )
    return TrainTest(train=images.part(like, "train"), test=images.part(like, "test"))


def _image_part[T: Tensor](like: T, folder: Path, /) -> LabelledArrays[T]:
    part = image_folder(like, folder, classes=CIFAR10_CLASSES).loaded()
    if part.inputs.shape[1:] != IMAGE_SHAPE:
        raise DataError(f"cifar10: {folder}: expected images of 32 x 32 pixels, found {part.inputs.shape[2:]}")
    return part


def _joined[T: Tensor](like: T, form: _Form, files: Mapping[str, bytes], place: str, /) -> TrainTest[T]:
    def part(name: str) -> LabelledArrays[T]:
        batches = []
        for file in form.files(name):
            if file not in files:
                raise DataError(f"cifar10: {place}: expected a file {file}, found no such file")
            batches.append(form.decode(files[file], f"{place}/{file}"))
        images = np.concatenate([batch.images for batch in batches])
        return LabelledArrays(like, images, np.concatenate([batch.labels for batch in batches]), divisor=255)

    return TrainTest(train=part("train"), test=part("test"))


def _read(path: Path, /) -> bytes:
    try:
        if (size := path.stat().st_size) > _LARGEST_BATCH:
            raise DataError(f"cifar10: {path}: expected at most {_LARGEST_BATCH} bytes, found {size}")
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cifar10: {path}: cannot be read: {error.strerror or error}") from error
