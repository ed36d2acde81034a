"""Sums for compiled steps."""

from typing import Final

import numpy as np

from moonxi.backends.numpy import threads
from moonxi.dtypes import HostArray
from moonxi.traits.kernels import Request, Routine

_RUN: Final = 1 << 16
"""Elements that are summed up in the element type; sums of these are in float64."""
_WORK: Final = 2
"""What an element costs, in multiplications of a product of matrices."""


def sum_of_squares(request: Request) -> Routine:
    """All operands to one number."""

    def run(*arrays: HostArray, out: tuple[HostArray]) -> None:
        total = 0.0
        for array in arrays:
            total += _squares(array.ravel("K"))
        out[0][...] = total

    return run


def _squares(flat: HostArray) -> float:
    if flat.size <= _RUN:
        return float(np.dot(flat, flat))
    parts = threads.parts(flat.size, flat.size * _WORK, most=_RUN)
    return sum(threads.each(lambda part: float(np.dot(flat[part], flat[part])), parts))
