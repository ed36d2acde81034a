"""The CUDA backend: `GpuTensor`."""

from moonxi.backends.cupy.array import GpuTensor, gpu

__all__ = ["GpuTensor", "gpu"]
