"""What moonxi calls of CuPy 14, and nothing else: a host array given for a device pointer is an error."""

import numpy as np
from cupy import cuda as cuda
from cupy.cuda import Function, MemoryPointer, MemoryPool

class RawKernel:
    @property
    def kernel(self) -> Function: ...

class RawModule:
    def __init__(self, *, code: str, options: tuple[str, ...], backend: str) -> None: ...
    def get_function(self, name: str) -> RawKernel: ...

class ndarray:
    dtype: np.dtype[np.generic]
    itemsize: int
    size: int
    data: MemoryPointer
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...

def from_dlpack(array: object, /) -> ndarray: ...
def get_default_memory_pool() -> MemoryPool: ...

__version__: str
