"""Where the time goes, as an interpreter of the traits: `Profiled[T]` computes with ``T`` and times each operation."""

from moonxi.profiled.blas import BlasProfiled
from moonxi.profiled.collector import Profile
from moonxi.profiled.image import ImageProfiled
from moonxi.profiled.row import Row
from moonxi.profiled.tensor import Profiled
from moonxi.profiled.wrap import profile

__all__ = ["BlasProfiled", "ImageProfiled", "Profile", "Profiled", "Row", "profile"]
