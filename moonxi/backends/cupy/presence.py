"""What is missing for computing on the GPU, said in one error."""

from importlib.util import find_spec

from moonxi.errors import DeviceError


def missing() -> DeviceError:
    """The error that says what is missing and what to do about it."""
    if find_spec("cupy") is None:
        what = "the package cupy is not installed; on a machine with an NVIDIA GPU, pip install 'moonxi[gpu]' brings it"
    else:
        what = "cupy is installed, but this version of moonxi has no kernels for it yet"
    return DeviceError(f"GpuTensor: {what}. Everything else works without: mx.numpy() computes on the CPU")
