"""Loops that Numba compiles, for compiled steps where it is installed (``pip install moonxi[numba]``).

Numba keeps what it has compiled on disk, beside these files or in the user's cache. The functions run without Python's
lock on the threads of the backend, each on its part.
"""

from functools import cache
from importlib.util import find_spec

import numpy as np

from moonxi.dtypes import HostArray

__all__ = ["is_installed", "plain"]


@cache
def is_installed() -> bool:
    """Whether there is Numba."""
    return find_spec("numba") is not None


def plain(array: HostArray) -> HostArray:
    """The array, or a copy if it is read-only or not in order: Numba would compile everything anew for each kind."""
    return array if array.flags.writeable and array.flags.c_contiguous else np.array(array, order="C")
