"""From plain tensors to timed ones: the most capable class that the plain one allows."""

from typing import overload

from moonxi.profiled.blas import BlasProfiled
from moonxi.profiled.collector import Profile
from moonxi.profiled.image import ImageProfiled
from moonxi.profiled.tensor import Profiled
from moonxi.traits import ImageModelTensor, MlpTensor, Tensor


@overload
def profile[T: ImageModelTensor](value: T, /, *, into: Profile) -> ImageProfiled[T]: ...
@overload
def profile[T: MlpTensor](value: T, /, *, into: Profile) -> BlasProfiled[T]: ...
@overload
def profile[T: Tensor](value: T, /, *, into: Profile) -> Profiled[T]: ...
def profile(value: Tensor, /, *, into: Profile) -> object:
    """The same tensor, with the operations on it and on what comes of it timed in the profile.

    ``cpu = profile(numpy(), into=p)`` is a backend as any other: models and data made from it are timed, forward and
    backward."""
    if isinstance(value, ImageModelTensor):
        return ImageProfiled(value, into)
    if isinstance(value, MlpTensor):
        return BlasProfiled(value, into)
    return Profiled(value, into)
