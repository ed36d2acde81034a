"""EMNIST: handwritten letters and digits (G. Cohen, S. Afshar, J. Tapson, A. van Schaik, arXiv:1702.05373, 2017)."""

import string
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np

from moonxi.data.dataset import LabelledArrays, TrainTest
from moonxi.data.image_collection import IdxFile, IdxPair, ImageCollection
from moonxi.errors import DataError, OptionError
from moonxi.traits import Tensor

type Split = Literal["byclass", "bymerge", "balanced", "letters", "digits", "mnist"]
"""How the classes are formed; section II of the paper."""

_LOWER_APART: Final = "abdefghnqrt"  # letters whose small form is a class of its own where the others are merged
_MERGED: Final = (*string.digits, *string.ascii_uppercase, *_LOWER_APART)
EMNIST_CLASSES: Final[dict[Split, tuple[str, ...]]] = {
    "byclass": (*string.digits, *string.ascii_uppercase, *string.ascii_lowercase),
    "bymerge": _MERGED,
    "balanced": _MERGED,
    "letters": tuple(string.ascii_uppercase),
    "digits": tuple(string.digits),
    "mnist": tuple(string.digits),
}
"""What the labels 0, 1, ... of each split stand for."""


def emnist[T: Tensor](like: T, /, split: Split, *, folder: Path | str, shape: tuple[int, ...] = (784,)) -> TrainTest[T]:
    """Letters and digits as images of 28 x 28, with batches that live where ``like`` lives.

    ``folder`` has the four IDX files of the split, compressed or not: ``emnist-letters-train-images-idx3-ubyte``, ...
    (from ``gzip.zip``, see https://www.nist.gov/itl/products-and-services/emnist-dataset); there is no download, as
    no checksums of theirs are known. The files have each image mirrored at its diagonal; here they are upright,
    as those of MNIST. The labels of ``letters``, which are 1 to 26 in the files, are 0 to 25.

    The pixels are float32 from 0 to 1, shaped as ``shape`` says; the labels are int64. Raises `DataError` if a file is
    missing, damaged or something else, `ShapeError` if ``shape`` is not that of 784 pixels, and `OptionError` for
    another split."""
    if split not in EMNIST_CLASSES:
        raise OptionError(f"emnist: split={split!r}: must be one of {', '.join(get_args(Split.__value__))}")
    first = 1 if split == "letters" else 0
    whole = _collection(split, first).read(like, Path(folder), shape=shape)
    return TrainTest(train=_upright(whole.train, shape, first), test=_upright(whole.test, shape, first))


def _collection(split: Split, first: int, /) -> ImageCollection:
    train, test = (
        IdxPair(
            images=IdxFile(f"emnist-{split}-{part}-images-idx3-ubyte", ""),
            labels=IdxFile(f"emnist-{split}-{part}-labels-idx1-ubyte", ""),
        )
        for part in ("train", "test")
    )
    classes = first + len(EMNIST_CLASSES[split])
    return ImageCollection(f"emnist ({split})", train, test, (28, 28), classes, mirrors=())


def _upright[T: Tensor](part: LabelledArrays[T], shape: tuple[int, ...], first: int, /) -> LabelledArrays[T]:
    if part.labels.min() < first:
        raise DataError(f"emnist: expected labels from {first}, found 0 at {int(np.argmin(part.labels))}")
    images = part.inputs.reshape(-1, 28, 28).swapaxes(1, 2).reshape(-1, *shape)
    return replace(part, inputs=images, labels=part.labels - first)
