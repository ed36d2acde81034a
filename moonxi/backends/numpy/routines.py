"""The routines of `NpArray`: several operations at once, on memory that is already there.

Like kernels they stand for the very methods of `NpArray`; for a subclass with methods of its own there are none.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from moonxi.backends.numpy import (
    convolution_routines,
    elementwise_routines,
    jit,
    normalisation_routines,
    pooling_routines,
    reduction_routines,
)
from moonxi.traits.kernels import Maker

_ROUTINES: Final[Mapping[str, Maker]] = {
    "convolution": convolution_routines.forward,
    "convolution_gradients": convolution_routines.gradients,
    "batch_norm": normalisation_routines.forward,
    "batch_norm_gradient": normalisation_routines.gradient,
    "elementwise": elementwise_routines.program,
    "max_pool": pooling_routines.forward,
    "max_pool_gradient": pooling_routines.gradient,
    "sum_of_squares": reduction_routines.sum_of_squares,
}
"""By name."""


def maker(name: str) -> Maker | None:
    """Makes the routine of this name, with Numba where that may be used and is installed; None if there is none."""
    found = _ROUTINES.get(name)
    if found is None:
        return None
    return lambda request: found(replace(request, numba=request.numba and jit.is_installed()))
