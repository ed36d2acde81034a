"""Arrays in ``.npy`` files, which stay on the disk until a batch asks for its samples."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from moonxi.data.dataset import LabelledArrays
from moonxi.data.paired import PairedArrays
from moonxi.dtypes import HostArray
from moonxi.errors import DataError
from moonxi.traits import Tensor


def open_npy(path: Path | str, /) -> HostArray | NDArray[np.integer]:
    """The numbers of a ``.npy`` file, mapped into memory and read-only: only what is used is read.

    Nothing in the file is executed. Raises `DataError` if it cannot be read, is no whole ``.npy`` file, or holds
    anything but real numbers."""
    source = Path(path)
    try:
        with source.open("rb") as file:
            magic = file.read(6)
        if magic != b"\x93NUMPY":  # else NumPy takes it for a pickle or a zip file
            raise DataError(f"open_npy: {source}: expected a .npy file, found the bytes {magic.hex(' ') or '(none)'}")
        array = np.lib.format.open_memmap(source, mode="r")
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"open_npy: {source}: cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError, OverflowError, SyntaxError) as error:
        raise DataError(f"open_npy: {source}: expected a whole .npy file of numbers: {error}") from error
    if array.dtype.kind not in "fiu":
        raise DataError(f"open_npy: {source}: expected real numbers, found {array.dtype}")
    return array


def labelled_npy[T: Tensor](
    like: T, /, *, inputs: Path | str, labels: Path | str, divisor: float | None = None
) -> LabelledArrays[T]:
    """Samples in one ``.npy`` file and their classes in another. Raises as `open_npy` and `LabelledArrays` do."""
    classes = open_npy(labels)
    if classes.dtype.kind == "f":
        raise DataError(f"labelled_npy: {labels}: expected integers, one class each, found {classes.dtype}")
    return LabelledArrays(like, open_npy(inputs), classes.astype(np.int64, copy=False), divisor=divisor)


def paired_npy[T: Tensor](like: T, /, *, inputs: Path | str, targets: Path | str) -> PairedArrays[T]:
    """Samples in one ``.npy`` file and their targets in another. Raises as `open_npy` and `PairedArrays` do."""
    return PairedArrays(like, open_npy(inputs), open_npy(targets))
