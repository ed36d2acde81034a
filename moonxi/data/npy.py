"""Arrays in ``.npy`` files, which stay on the disk until a batch asks for its samples."""

from math import prod
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from moonxi.data.dataset import LabelledArrays
from moonxi.data.paired import PairedArrays
from moonxi.dtypes import HostArray
from moonxi.errors import DataError
from moonxi.traits import Tensor


def open_npy(path: Path | str, /) -> HostArray | NDArray[np.integer]:
    """The numbers of a ``.npy`` file, mapped into memory and read-only: only what is used is read.

    Nothing in the file is executed. While it is in use, nobody may shorten the file: the operating system ends a
    process that reads where nothing is any more. Raises `DataError` if it cannot be read, is no whole ``.npy`` file,
    or holds anything but real numbers."""
    source = Path(path)
    try:
        with source.open("rb") as file:
            shape, fortran_order, dtype, place = _header(file, source)
            left = file.seek(0, SEEK_END) - place
        # In Python numbers, which do not overflow: a product that has would be mapped, and read outside of the file.
        needed = prod(shape) * dtype.itemsize
        if left < needed:
            raise DataError(
                f"open_npy: {source}: expected a whole .npy file, {needed} bytes for {dtype} {shape} after the header, "
                f"found {left}"
            )
        order: Literal["F", "C"] = "F" if fortran_order else "C"
        if needed:
            return np.memmap(source, dtype, "r", place, shape, order)
        empty: HostArray = np.empty(shape, dtype, order)
    except OSError as error:
        raise DataError(f"open_npy: {source}: cannot be read: {error.strerror or error}") from error
    except (ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"open_npy: {source}: expected an array that fits into memory: {error}") from error
    empty.flags.writeable = False
    return empty


def _header(file: BinaryIO, source: Path) -> tuple[tuple[int, ...], bool, np.dtype[np.floating], int]:
    """Shape, order and element type from the header of a file of real numbers, and where the numbers begin.

    The element type may be one of integers: which one it is only the file says."""
    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY":  # else NumPy takes it for a pickle or a zip file
        raise DataError(f"open_npy: {source}: expected a .npy file, found the bytes {magic[:6].hex(' ') or '(none)'}")
    read = {b"\x01\x00": npy.read_array_header_1_0, b"\x02\x00": npy.read_array_header_2_0}.get(magic[6:])
    if read is None:  # version 3 is for records with names that are not ASCII
        found = magic[6:].hex(" ") or "(none)"
        raise DataError(f"open_npy: {source}: expected a .npy file of version 1.0 or 2.0, found {found}")
    try:
        shape, fortran_order, dtype = read(file)
    except Exception as error:  # of the parser that NumPy uses on it: any
        raise DataError(f"open_npy: {source}: expected a whole .npy header: {error}") from error
    if dtype.kind not in "fiu" or dtype.subdtype is not None:
        raise DataError(f"open_npy: {source}: expected real numbers, found {dtype}")
    if any(isinstance(size, bool) or size < 0 for size in shape):
        raise DataError(f"open_npy: {source}: expected a shape, found {shape}")
    return shape, fortran_order, cast(np.dtype[np.floating], dtype), file.tell()  # or of integers, as said above


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
