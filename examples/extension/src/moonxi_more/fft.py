"""A row: the trait `FftTensor`, for arrays of NumPy and under differentiation to any order.

The spectrum of real numbers is kept as real numbers, with the real and imaginary parts along a new last axis.
"""

from typing import TYPE_CHECKING, Protocol, Self, overload, override, runtime_checkable

import numpy as np

from moonxi import F32, ImageGrad, ImageModelTensor, ImageProfiled, NpArray, Tensor, numpy
from moonxi.dtypes import Floating, HostArray
from moonxi.errors import ShapeError


@runtime_checkable
class FftTensor(ImageModelTensor, Protocol):
    """A tensor that can be transformed along its last axis."""

    def rfft(self) -> Self:
        """The discrete Fourier transform: ``(..., n)`` gives ``(..., n // 2 + 1, 2)``.

        Element ``k`` is the sum of ``x[j] * exp(-2 pi i j k / n)``. Raises `ShapeError` if ``n`` is 0 or there is no
        axis."""
        ...

    def irfft(self, size: int, /) -> Self:
        """The inverse of `rfft` for ``size`` numbers: ``(..., size // 2 + 1, 2)`` gives ``(..., size)``.

        The imaginary parts of the first element, and of the last one if ``size`` is even, do not matter. Raises
        `ShapeError` for other sizes."""
        ...


class FftArray[D: Floating](NpArray[D]):
    """`NpArray` with the transforms of NumPy."""

    __slots__ = ()

    def rfft(self) -> Self:
        if not self.shape or self.shape[-1] == 0:
            raise ShapeError(f"rfft: {self.shape}: there must be numbers along a last axis")
        z = np.fft.rfft(self.data)
        return type(self)(np.stack((z.real, z.imag), axis=-1).astype(self.data.dtype, copy=False))

    def irfft(self, size: int, /) -> Self:
        if size < 1 or self.shape[-2:] != (size // 2 + 1, 2):
            raise ShapeError(
                f"irfft: {self.shape} to {size}: {size} numbers have a spectrum of shape (..., {size // 2 + 1}, 2)"
            )
        z = self.data[..., 0] + 1j * self.data[..., 1]
        return type(self)(np.fft.irfft(z, size).astype(self.data.dtype, copy=False))


class FftGrad[T: FftTensor](ImageGrad[T], FftTensor):
    """A tensor under differentiation whose ``T`` can be transformed.

    Both transforms are linear, and the transpose of each is the other one, scaled: `irfft` counts each element but the
    first, and the last if the size is even, twice, as the spectrum leaves their conjugates out. So a gradient is made
    of operations of ``T``, and can be differentiated again."""

    __slots__ = ()

    @override
    def rfft(self) -> Self:
        size = self.shape[-1]
        return type(self)(
            self.value.rfft(),
            None if self.parents is None else ((self, lambda g: (g / _times_counted(g, size)).irfft(size) * size),),
        )

    @override
    def irfft(self, size: int, /) -> Self:
        return type(self)(
            self.value.irfft(size),
            None if self.parents is None else ((self, lambda g: g.rfft() * _times_counted(g, size) * (1.0 / size)),),
        )


class FftProfiled[T: FftTensor](ImageProfiled[T]):
    """A timed tensor whose ``T`` can be transformed."""

    __slots__ = ()

    def rfft(self) -> Self:
        return self.timed("rfft", self.value.rfft)

    def irfft(self, size: int, /) -> Self:
        return self.timed("irfft", lambda: self.value.irfft(size))


def _times_counted[T: Tensor](like: T, size: int) -> T:
    """How often `irfft` counts each element of a spectrum, ``(size // 2 + 1, 1)``."""
    counts: HostArray = np.full((size // 2 + 1, 1), 2.0)
    counts[0] = 1.0
    if size % 2 == 0:
        counts[-1] = 1.0
    return like.from_host(counts)


@overload
def fft() -> FftArray[F32]: ...
@overload
def fft[D: Floating](dtype: type[D], /) -> FftArray[D]: ...
def fft(dtype: type[Floating] = F32, /) -> object:
    """The NumPy backend with transforms as a value, as ``moonxi.numpy()`` is the one without."""
    return FftArray[Floating](numpy(dtype).to_host())


if TYPE_CHECKING:
    _: type[FftTensor] = FftArray

    def _conforms[T: FftTensor](_: type[FftGrad[T]]) -> type[FftTensor]:
        return FftGrad[T]

    def _times[T: FftTensor](_: type[FftProfiled[T]]) -> type[FftTensor]:
        return FftProfiled[T]
