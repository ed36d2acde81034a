"""An extension of moonxi: a trait of Fourier transforms, and a tensor class that computes with many digits."""

from moonxi_more.fft import FftArray, FftGrad, FftProfiled, FftTensor, fft
from moonxi_more.filter import SpectralFilter
from moonxi_more.precise import Precise, precise

__all__ = ["FftArray", "FftGrad", "FftProfiled", "FftTensor", "Precise", "SpectralFilter", "fft", "precise"]
