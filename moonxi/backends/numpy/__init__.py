"""The NumPy backend: `NpArray`."""

from moonxi.backends.numpy.array import NpArray, numpy

__all__ = ["NpArray", "numpy"]
