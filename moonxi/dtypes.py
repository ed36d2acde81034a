"""Element types, as classes: they are the parameter ``D`` of ``NpArray[D]`` and ``GpuTensor[D]``.

``x.dtype`` gives the class itself, so ``x.dtype is F32`` is the test. ``type`` carries the name in the form
that jaxtyping reads, so that ``Float[T, "batch 10"]`` also checks the kind of element at run time.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

type HostArray = NDArray[np.floating]
"""A NumPy array of float32 or float64."""
type HostLabels = NDArray[np.integer]
"""A NumPy array of class indices."""
type HostMask = NDArray[np.bool_]
"""A NumPy array of booleans."""


class bfloat16:
    """The name under which run-time shape checks know the 16-bit brain float; NumPy has no such scalar."""


class DType:
    """An element type; never instantiated."""

    name: ClassVar[str]
    """As NumPy spells it."""
    itemsize: ClassVar[int]
    """Bytes an element."""
    type: ClassVar[type]
    """The scalar class that bears the name."""


class Floating(DType):
    """An element type that can be differentiated."""


class F64(Floating):
    """IEEE double precision."""

    name = "float64"
    itemsize = 8
    type = np.float64


class F32(Floating):
    """IEEE single precision: the default."""

    name = "float32"
    itemsize = 4
    type = np.float32


class F16(Floating):
    """IEEE half precision."""

    name = "float16"
    itemsize = 2
    type = np.float16


class BF16(Floating):
    """The upper half of a float32: its range, 8 bits of precision."""

    name = "bfloat16"
    itemsize = 2
    type = bfloat16


class I64(DType):
    """The integers of ``Labels``."""

    name = "int64"
    itemsize = 8
    type = np.int64


class Bool(DType):
    """The booleans of ``Mask``."""

    name = "bool"
    itemsize = 1
    type = np.bool_
