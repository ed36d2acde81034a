"""What is missing for computing on the GPU, said in one error."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from moonxi.errors import DeviceError

_REST = "Everything else works without: mx.numpy() computes on the CPU"


def require(index: int = 0, /) -> None:
    """Raise `DeviceError`, which says what is missing and what to do about it, unless there is a GPU of this number."""
    reason = _missing()
    if reason is not None:
        raise DeviceError(f"GpuTensor: {reason}. {_REST}")
    count = _devices()
    if not 0 <= index < count:
        there = "is one GPU, number 0" if count == 1 else f"are {count} GPUs, numbered from 0"
        raise DeviceError(f"gpu: device {index}: there {there}")


@cache
def _missing() -> str | None:
    """What is missing, with the command or the step that brings it; None if a GPU can be used."""
    if find_spec("cupy") is None:
        return "the package cupy is not installed; on a machine with an NVIDIA GPU, pip install 'moonxi[gpu]' brings it"
    try:
        import_module("cupy")
    except ImportError as error:
        return f"cupy is installed but cannot be imported ({error}); pip install --force-reinstall 'moonxi[gpu]'"
    try:
        count = _devices()
    except Exception as error:  # cupy's own error classes differ between its versions
        return (
            f"no NVIDIA driver answers ({error}); install the driver of the GPU, 580 or newer for CUDA 13, and see "
            "that nvidia-smi lists it"
        )
    if count == 0:
        return (
            "the NVIDIA driver shows no GPU; see that nvidia-smi lists one, and that CUDA_VISIBLE_DEVICES is not empty"
        )
    return None


def _devices() -> int:
    from cupy.cuda import runtime

    return runtime.getDeviceCount()
