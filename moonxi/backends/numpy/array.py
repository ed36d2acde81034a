"""`NpArray[D]`: the complete tensor class of the NumPy backend."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Self, overload

import numpy as np
from typing_extensions import CapsuleType

from moonxi.backends.numpy.image import NumpyImage
from moonxi.backends.numpy.sharing import CPU, SupportsDlpack, adopted, capsule
from moonxi.dtypes import F32, F64, DType, Floating
from moonxi.errors import OperandError
from moonxi.traits import ImageModelTensor, MlpTensor
from moonxi.traits.kernels import Kernel, Maker


class NpArray[D: Floating](NumpyImage[D]):
    """An immutable array on the host with elements of type ``D``, `F32` or `F64`.

    Make one from another: ``numpy().from_host(array)``, ``x.zeros((3, 4))``. The constructor wraps an ndarray without
    a copy and makes it read-only; it is for backends and their extensions. So is ``data``, the ndarray itself, which
    views of it share: NumPy lets whoever asks make it writable again, and nobody may. ``x.to_host()`` is a copy."""

    __slots__ = ()

    def cast[E: Floating](self, dtype: type[E], /) -> "NpArray[E]":
        """The numbers, rounded to another element type, `F32` or `F64`; class indices and masks stay as they are.

        It is not differentiated: cast whole models."""
        if dtype not in (F32, F64):
            raise OperandError(f"cast: element type {dtype.__name__}: this backend computes in F32 and F64")
        array = self.data if self.data.dtype.kind in "bi" else self.data.astype(dtype.type, copy=False)
        made: NpArray[E] = NpArray(array)
        return made

    @classmethod
    def kernel(cls, operation: str, /) -> Kernel | None:
        """The operation on memory that is already there; None if there is none, or the class does it in its own way."""
        from moonxi.backends.numpy.kernels import KERNELS  # which names the methods of this class's bases

        return KERNELS.get(getattr(cls, operation))

    @classmethod
    def routine(cls, name: str, operations: Collection[str], /) -> Maker | None:
        """Makes the routine of this name, which stands for these operations; None if the class has its own of one."""
        from moonxi.backends.numpy.routines import maker  # which compiled steps alone need

        if any(getattr(cls, operation) is not getattr(NpArray, operation) for operation in operations):
            return None
        return maker(name)

    # -- to and from other libraries -------------------------------------------------------------------------------

    def from_dlpack(self, source: SupportsDlpack, /) -> Self:
        """A tensor with the elements of a host array of PyTorch, JAX or NumPy, copied: its owner may go on writing.

        Raises `OperandError` for an array that lives elsewhere or has another element type."""
        return type(self)(adopted(source, self.data.dtype))

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind of device (1, the host) and its number, 0."""
        return CPU, 0

    def __dlpack__(
        self,
        /,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A copy for another library, which may write to it.

        Sharing would not do: DLPack can mark memory as read-only, but PyTorch (2.13) writes to it all the same. Raises
        `BufferError` if the consumer refuses a copy, or asks for another device."""
        if copy is False:
            raise BufferError("NpArray.__dlpack__: copy=False: its memory is immutable, so it gives copies only")
        return capsule(type(self).__name__, self.data, max_version, dl_device)

    def _element(self, element: type[D], /) -> type[D]:
        """Never called: it makes the class invariant in ``D``."""
        return element


@overload
def numpy() -> NpArray[F32]: ...
@overload
def numpy[D: Floating](dtype: type[D], /) -> NpArray[D]: ...
def numpy(dtype: type[DType] = F32, /) -> object:
    """The NumPy backend as a value: a zero from which tensors are made (``numpy().zeros((3, 4))``).

    Pass it wherever something asks for ``like``. Large operations run on as many threads as NumPy's BLAS has at the
    first of them (``OPENBLAS_NUM_THREADS``); BLAS itself then stays on one, in the whole process.

    Raises `OperandError` unless ``dtype`` is `F32` or `F64`."""
    if dtype is F32:
        return NpArray[F32](np.zeros((), np.float32))
    if dtype is F64:
        return NpArray[F64](np.zeros((), np.float64))
    raise OperandError(f"numpy: element type {dtype.__name__}: this backend computes in F32 and F64")


# Run-time shape checks then look at the class, not at each of its methods.
MlpTensor.register(NpArray)
ImageModelTensor.register(NpArray)
if TYPE_CHECKING:
    _: type[ImageModelTensor] = NpArray
