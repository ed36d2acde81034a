"""What moonxi calls of CuPy 14, and nothing else: a host array given for a device pointer is an error."""

from cupy import cuda as cuda
from cupy.cuda import Function, MemoryPool

class RawKernel:
    @property
    def kernel(self) -> Function: ...

class RawModule:
    def __init__(self, *, code: str, options: tuple[str, ...], backend: str) -> None: ...
    def get_function(self, name: str) -> RawKernel: ...

def get_default_memory_pool() -> MemoryPool: ...

__version__: str
