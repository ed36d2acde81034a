"""Elements on the host: the NumPy type that has the bits of an element type, and rounding to it."""

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import BF16, DType, HostArray


def kind(element: type[DType]) -> np.dtype[np.generic]:
    """The NumPy type of the bits; those of BF16, which NumPy does not have, are an unsigned integer."""
    return np.dtype(np.uint16 if element is BF16 else element.type)


def rounded(array: HostArray | NDArray[np.integer], element: type[DType]) -> NDArray[np.generic]:
    """A contiguous copy with the bits of the element type: to nearest, ties to even, NaN stays NaN."""
    if element is not BF16:
        with np.errstate(over="ignore"):
            return np.array(array, dtype=element.type, order="C")
    single = np.array(array, dtype=np.float32, order="C")
    if array.dtype.itemsize > 4:
        # Rounded twice, a number just beside a tie could go the wrong way: keep it beside the tie.
        exact = np.array(array, dtype=np.float64, order="C")
        word = single.view(np.uint32)
        low = np.signbit(single) == (single > exact)
        word += np.where((word & 0xFFFF == 0x8000) & (single != exact), np.where(low, 1, -1), 0).astype(np.uint32)
    word = single.view(np.uint32)
    upper = (word + (0x7FFF + (word >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FC0), upper).astype(np.uint16)


def widened(array: NDArray[np.generic], element: type[DType]) -> HostArray:
    """The numbers: float32 for BF16, and the same array for every other element type."""
    numbers: HostArray = array  # type: ignore[assignment]  # the carriers of labels and masks are read here too
    if element is BF16:
        numbers = (array.astype(np.uint32) << 16).view(np.float32)
    return numbers
