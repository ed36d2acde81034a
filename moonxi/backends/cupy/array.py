"""`GpuTensor[D]`: the complete tensor class of the CUDA backend."""

from typing import TYPE_CHECKING, NoReturn, overload

from moonxi.backends.cupy.image import CudaImage
from moonxi.backends.cupy.presence import missing
from moonxi.dtypes import F32, DType, Floating
from moonxi.traits import ImageModelTensor


class GpuTensor[D: Floating](CudaImage[D]):
    """An immutable array on an NVIDIA GPU with elements of type ``D``, `F32`, `F64`, `F16` or `BF16`.

    The class is complete for type checkers, so that models, tests and must-fail cases can be written against it.
    Making one raises `DeviceError`, which says what is missing."""

    __slots__ = ()

    def __init__(self, *_: object) -> None:
        raise missing()

    def _element(self, element: type[D], /) -> type[D]:
        """Never called: it makes the class invariant in ``D``."""
        return element


@overload
def gpu() -> GpuTensor[F32]: ...
@overload
def gpu[D: Floating](dtype: type[D], /) -> GpuTensor[D]: ...
def gpu(dtype: type[DType] = F32, /) -> NoReturn:
    """The CUDA backend as a value, as ``numpy()`` is the NumPy backend; raises `DeviceError` where it cannot run."""
    raise missing()


if TYPE_CHECKING:
    _: type[ImageModelTensor] = GpuTensor
