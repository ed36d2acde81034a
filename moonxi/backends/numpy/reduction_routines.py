"""Sums for compiled steps."""

from math import isfinite
from typing import Any, Final

import numpy as np

from moonxi.backends.numpy import threads
from moonxi.dtypes import HostArray
from moonxi.traits.kernels import Request, Routine

_RUN: Final = 1 << 17
"""Elements that are summed up in the element type; sums of these are in float64."""
_WORK: Final = 2
"""What an element costs, in multiplications of a product of matrices."""


def sum_of_squares(request: Request) -> Routine:
    """All operands, scaled, to one number. Only where it overflows without the scale are the elements multiplied.

    Unlike ``np.dot``, ``np.vdot`` does not warn of what overflows, and setting ``np.errstate`` takes a while."""
    options: dict[str, Any] = request.options
    scale = float(options["scale"])

    def run(*arrays: HostArray, out: tuple[HostArray]) -> None:
        total = 0.0
        for array in arrays:
            total += _squares(array.ravel("K"))
        if isfinite(total) or scale == 1.0:
            out[0][...] = total * scale**2
        else:
            out[0][...] = sum(_squares(array.ravel("K") * scale) for array in arrays)

    return run


def _squares(flat: HostArray) -> float:
    if flat.size <= _RUN:
        return float(np.vdot(flat, flat))
    parts = threads.parts(flat.size, flat.size * _WORK, most=_RUN)
    return sum(threads.each(lambda part: float(np.vdot(flat[part], flat[part])), parts))
