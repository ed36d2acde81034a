"""A layer that is written for every tensor class with the trait: on NumPy, under differentiation, or elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float

from moonxi import Key
from moonxi.nn import Module
from moonxi_more.fft import FftTensor


@dataclass(frozen=True)
class SpectralFilter[T: FftTensor](Module[T]):
    """Multiplies each frequency of a signal by a gain of its own."""

    gain: Float[T, "frequencies 1"]

    if TYPE_CHECKING:  # for other checkers: mypy's plugin adds it by itself

        def map[U: FftTensor](self, f: Callable[[T], U], /) -> "SpectralFilter[U]": ...

    @classmethod
    def init(cls, size: int, *, like: T, key: Key) -> "SpectralFilter[T]":
        """Gains near 1, for signals of ``size`` numbers."""
        return SpectralFilter(like.normal((size // 2 + 1, 1), key) * 0.1 + 1.0)

    def forward(self, x: Float[T, "batch size"]) -> Float[T, "batch size"]:
        """The filtered signals."""
        return (x.rfft() * self.gain).irfft(x.shape[-1])
