"""`NpArray[D]`: the complete tensor class of the NumPy backend."""

from typing import TYPE_CHECKING, overload

import numpy as np

from moonxi.backends.numpy.image import NumpyImage
from moonxi.dtypes import F32, F64, DType, Floating
from moonxi.errors import OperandError
from moonxi.traits import ImageModelTensor, MlpTensor


class NpArray[D: Floating](NumpyImage[D]):
    """An immutable array on the host with elements of type ``D``, `F32` or `F64`.

    Make one from another: ``numpy().from_host(array)``, ``x.zeros((3, 4))``. The constructor wraps an ndarray without
    a copy and makes it read-only; it is for backends and their extensions."""

    __slots__ = ()

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
