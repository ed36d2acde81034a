"""Memory for what lives only within one call, such as the patches of a convolution: kept by each thread.

Fresh memory costs a page fault for each page, and is in no cache.
"""

import threading
from math import prod

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import HostArray
from moonxi.traits import Shape

_LARGEST = 1 << 26
"""Bytes that are kept at most under one name."""


_ALIGNMENT = 64
"""Bytes of a line of the cache: vectors that lie across two take twice as long."""


class _Kept(threading.local):
    def __init__(self) -> None:
        self.memory: dict[str, NDArray[np.uint8]] = {}


_kept = _Kept()


def array(name: str, shape: Shape, dtype: np.dtype[np.floating]) -> HostArray:
    """An array of any content. It is lost at the thread's next call with this name."""
    size = prod(shape) * dtype.itemsize
    memory = _kept.memory.get(name)
    if memory is None or memory.size < size:
        whole = np.empty(size + _ALIGNMENT, np.uint8)
        start = -whole.ctypes.data % _ALIGNMENT
        memory = whole[start : start + size]
        if size <= _LARGEST:
            _kept.memory[name] = memory
    return memory[:size].view(dtype).reshape(shape)
