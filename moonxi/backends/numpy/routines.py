"""The routines of `NpArray`: several operations at once, on memory that is already there.

Like kernels they stand for the very methods of `NpArray`; for a subclass with methods of its own there are none.
"""

from collections.abc import Mapping
from typing import Final

from moonxi.backends.numpy import convolution_routines
from moonxi.traits.kernels import Maker

ROUTINES: Final[Mapping[str, Maker]] = {
    "convolution": convolution_routines.forward,
    "convolution_gradients": convolution_routines.gradients,
}
"""By name."""
