"""The two forms in which CIFAR-10 is published: files of labelled images of 3 x 32 x 32 bytes.

Both are described at https://www.cs.toronto.edu/~kriz/cifar.html. The "python" version pickles a dictionary with
``data``, a row of 3,072 bytes an image (red, green, blue; each plane by rows), and ``labels``; the binary version has
a byte for the label before the same 3,072 bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi.data.plain_pickle import read_plain_pickle
from moonxi.errors import DataError

IMAGE_SHAPE: Final = (3, 32, 32)
"""Channels, rows and columns."""
_PIXELS: Final = 3 * 32 * 32
_CLASSES: Final = 10


@dataclass(frozen=True, slots=True, eq=False)
class CifarBatch:
    """Images as bytes of shape ``(n, 3, 32, 32)``, and their int64 classes from 0 to 9."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


def decode_python_batch(content: bytes, name: str, /) -> CifarBatch:
    """The images of a file of the "python" version, of which nothing is executed; ``name`` is for the messages.

    Raises `DataError` if the file is damaged or holds anything else."""
    batch = read_plain_pickle(content, name)
    images, labels = batch.get("data"), batch.get("labels")
    if not isinstance(images, np.ndarray) or images.ndim != 2 or images.shape[1] != _PIXELS or len(images) == 0:
        found = f"{images.shape}" if isinstance(images, np.ndarray) else "none"
        raise DataError(f"cifar10: {name}: expected an array 'data' (1 or more, {_PIXELS}), found {found}")
    if not isinstance(labels, list) or len(labels) != len(images) or not all(type(label) is int for label in labels):
        found = f"a list of {len(labels)}" if isinstance(labels, list) else "none"
        raise DataError(f"cifar10: {name}: expected a list 'labels' of {len(images)} integers, found {found}")
    _check(labels, name)
    return CifarBatch(images.reshape(-1, *IMAGE_SHAPE), np.array(labels, np.int64))


def decode_binary_batch(content: bytes, name: str, /) -> CifarBatch:
    """The images of a file of the binary version; ``name`` is for the messages.

    Raises `DataError` if the file is cut short or holds anything else."""
    if len(content) == 0 or len(content) % (1 + _PIXELS):
        raise DataError(
            f"cifar10: {name}: expected one or more records of {1 + _PIXELS} bytes, found {len(content)} bytes"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + _PIXELS)
    labels = records[:, 0].astype(np.int64)
    _check(labels.tolist(), name)
    return CifarBatch(records[:, 1:].reshape(-1, *IMAGE_SHAPE), labels)


def _check(labels: Sequence[int], name: str, /) -> None:
    for at, label in enumerate(labels):
        if not 0 <= label < _CLASSES:
            found = f"{label}" if label.bit_length() < 64 else "a huge number"  # of which Python may refuse the text
            raise DataError(f"cifar10: {name}: expected labels from 0 to {_CLASSES - 1}, found {found} at {at}")
