"""`GpuTensor[D]`: the complete tensor class of the CUDA backend."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Self, overload

from moonxi.backends.cupy import tuning
from moonxi.backends.cupy.elementwise import converted
from moonxi.backends.cupy.fused import fused
from moonxi.backends.cupy.image import CudaImage
from moonxi.backends.cupy.memory import DeviceArray, Space, space
from moonxi.backends.cupy.norms import normalised, normalised_gradients
from moonxi.backends.cupy.presence import require
from moonxi.backends.cupy.recording import CudaRecording
from moonxi.backends.cupy.sharing import SupportsDlpack, array_interface, dlpack, shared
from moonxi.backends.cupy.sources import FLOATING
from moonxi.backends.cupy.waves import run
from moonxi.dtypes import F32, DType, Floating
from moonxi.errors import OperandError
from moonxi.formulas import Formula, WithFormulas
from moonxi.norms import NormGradients, Norms, WithNorms
from moonxi.pooled_sums import WithPooledSums
from moonxi.recording import Program, WithRecording
from moonxi.traits import ImageModelTensor, MlpTensor
from moonxi.turned import WithTurned
from moonxi.waves import Holds, Waves, WithWaves


class GpuTensor[D: Floating](CudaImage[D]):
    """An immutable array on an NVIDIA GPU with elements of type ``D``, `F32`, `F64`, `F16` or `BF16`.

    Make one from another: ``gpu().from_host(array)``, ``x.zeros((3, 4))``. The constructor is for backends and their
    extensions. F16 and BF16 are computed in single precision and rounded once an operation."""

    __slots__ = ()

    def cast[E: Floating](self, dtype: type[E], /) -> "GpuTensor[E]":
        """The numbers, rounded to another element type; class indices and masks of a batch stay as they are.

        It is not differentiated: cast parameters and batches."""
        there = self.space
        if there.element not in FLOATING:
            return GpuTensor(self.data, there)
        here = _space("cast", dtype, self.device, debug=there.debug, autotune=there.autotune)
        x = there.dense(self.data)
        return GpuTensor(x if there.element is dtype else converted(here, x, there.element.name), here)

    def fused(self, formula: Formula, /, *members: Sequence[Self]) -> tuple[Self, ...]:
        """A formula of several members in one kernel: see `moonxi.formulas`. It checks nothing."""
        cls, space = type(self), self.space
        found = fused(space, formula, [one.data for member in members for one in member])
        masks = [formula.is_mask(value) for value in formula.results]
        if not any(masks):
            return tuple([cls(one, space) for one in found])
        spaces = [space.booleans if is_mask else space for is_mask in masks] + [space] * len(formula.sums)
        return tuple([cls(one, where) for one, where in zip(found, spaces * len(members), strict=True)])

    def tuning(self) -> AbstractContextManager[None]:
        """Within, the plans of convolutions are tried."""
        return tuning.wanted(True)

    def waves(self, waves: Waves, /, *operands: Self) -> tuple[Self, ...]:
        """Operations on small tensors in a few kernels: see `moonxi.waves`. It checks nothing."""
        found = run(self.space, waves, [one.data for one in operands])
        masks = [waves.values[number].holds is Holds.MASK for number in waves.results]
        spaces = [self.space.booleans if is_mask else self.space for is_mask in masks]
        return tuple(type(self)(one, where) for one, where in zip(found, spaces, strict=True))

    def normalised(self, norms: Norms, operands: Sequence[Self], /) -> tuple[Self, ...]:
        """Batch norms and a formula of their results: see `moonxi.norms`. It checks nothing."""
        found = normalised(self.space, norms, [one.data for one in operands])
        return self._made_of(norms.formula, found)

    def normalised_gradients(self, norms: NormGradients, operands: Sequence[Self], /) -> tuple[Self, ...]:
        """A formula and gradients of batch norms: see `moonxi.norms`. It checks nothing."""
        found = normalised_gradients(self.space, norms, [one.data for one in operands])
        return self._made_of(norms.formula, found)

    def _made_of(self, formula: Formula, found: Sequence[DeviceArray]) -> tuple[Self, ...]:
        """Results of a formula, some of which may be masks, and what comes after them."""
        masks = [formula.is_mask(value) for value in formula.results]
        masks += [False] * (len(found) - len(masks))
        booleans = self.space.booleans
        return tuple(
            type(self)(one, booleans if is_mask else self.space) for one, is_mask in zip(found, masks, strict=True)
        )

    def recording(
        self, program: Program, outputs: Sequence[object], /, *, branches: int, tuned: bool
    ) -> CudaRecording | None:
        """What repeats a program as a CUDA graph; None with ``debug=True``, which waits for the device."""
        return None if self.space.debug else CudaRecording(self.space, program, outputs, branches=branches, tuned=tuned)

    # -- sharing memory with other libraries ------------------------------------------------------------------

    def from_dlpack(self, source: SupportsDlpack, /) -> Self:
        """A tensor in the memory of an array of PyTorch, JAX or CuPy on this GPU; nobody may write to it afterwards.

        Raises `OperandError` for an array that lives elsewhere or has another element type."""
        return self._made(shared(self.space, source))

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind of device (2, CUDA) and the number of the GPU."""
        return 2, self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """This memory for another library, which must not write to it. Raises `BufferError` if it asks for a copy."""
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("GpuTensor.__dlpack__: it shares memory and copies nothing, to no other device")
        return dlpack(self.space, self.data, stream)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        """This memory for another library, which must not write to it."""
        return array_interface(self.space, self.data)

    def _element(self, element: type[D], /) -> type[D]:
        """Never called: it makes the class invariant in ``D``."""
        return element


@overload
def gpu(*, device: int = 0, tf32: bool = False, debug: bool = False, autotune: bool = False) -> GpuTensor[F32]: ...
@overload
def gpu[D: Floating](
    dtype: type[D],
    /,
    *,
    device: int = 0,
    tf32: Literal[False] = False,
    debug: bool = False,
    autotune: bool = False,
) -> GpuTensor[D]: ...
@overload
def gpu(
    dtype: type[F32], /, *, device: int = 0, tf32: bool = False, debug: bool = False, autotune: bool = False
) -> GpuTensor[F32]: ...
def gpu(
    dtype: type[DType] = F32,
    /,
    *,
    device: int = 0,
    tf32: bool = False,
    debug: bool = False,
    autotune: bool = False,
) -> object:
    """The CUDA backend as a value: a zero from which tensors are made, as ``numpy()`` is of the NumPy backend.

    ``device`` is the number of the GPU. With ``tf32=True`` matrix products and convolutions of `F32` round their
    operands to 10 bits, several times as fast. With ``debug=True`` a label that is no class is reported by the
    operation that meets it, which then waits for the device; otherwise by the next `to_host` or `item`. With
    ``autotune=True`` the first convolution of a shape tries cuDNN's plans and keeps the fastest, on disk too.

    Raises `DeviceError`, which says what is missing, where it cannot run; `OperandError` for other element types."""
    if tf32 and dtype is not F32:
        raise OperandError(f"gpu: tf32=True with {dtype.__name__}: TF32 is a way to multiply F32")
    where = _space("gpu", dtype, device, debug=debug, tf32=tf32, autotune=autotune)
    return GpuTensor[F32](where.full((), 0.0), where)  # whatever its element type is: the overloads say it


def _space(
    operation: str, dtype: type[DType], device: int, *, debug: bool, autotune: bool, tf32: bool = False
) -> Space:
    if dtype not in FLOATING:
        raise OperandError(
            f"{operation}: element type {dtype.__name__}: this backend computes in F32, F64, F16 and BF16"
        )
    require(device)
    return space(dtype, device, debug=debug, tf32=tf32, autotune=autotune)


# Run-time shape checks then look at the class, not at each of its methods.
MlpTensor.register(GpuTensor)
ImageModelTensor.register(GpuTensor)
if TYPE_CHECKING:
    _: type[ImageModelTensor] = GpuTensor
    __: type[WithRecording] = GpuTensor
    ___: type[WithFormulas] = GpuTensor
    ____: type[WithWaves] = GpuTensor
    _____: type[WithNorms] = GpuTensor
    ______: type[WithTurned] = GpuTensor
    _______: type[WithPooledSums] = GpuTensor
