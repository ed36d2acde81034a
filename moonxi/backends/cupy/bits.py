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
    exact = np.array(array, dtype=np.float64, order="C").reshape(-1)
    with np.errstate(over="ignore"):
        single = exact.astype(np.float32)
    word = single.view(np.uint32)
    # Rounded to odd first, so that rounding a second time goes as once: of what is lost, a bit is left.
    inexact = (single != exact) & ~np.isnan(exact)
    word -= (inexact & (np.abs(single) > np.abs(exact))).astype(np.uint32)
    word |= inexact.astype(np.uint32)
    upper = (word + (0x7FFF + (word >> 16 & 1)) >> 16).astype(np.uint16)
    upper[np.isnan(exact)] = 0x7FC0
    return upper.reshape(np.shape(array))


def widened(array: NDArray[np.generic], element: type[DType]) -> HostArray:
    """The numbers: float32 for BF16, and the same array for every other element type."""
    numbers: HostArray = array  # type: ignore[assignment]  # the carriers of labels and masks are read here too
    if element is BF16:
        numbers = np.asarray(array.astype(np.uint32) << 16).view(np.float32)  # without axes NumPy gives a scalar
    return numbers
