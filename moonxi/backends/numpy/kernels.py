"""The operations of `NpArray` on memory that is already there: bit for bit what its methods compute.

They are found by the very function that is the method, so that a subclass with a method of its own has no kernel
for it.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import copysign
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.numpy import direct
from moonxi.backends.numpy.blas import NumpyBlas
from moonxi.backends.numpy.elementwise import NumpyElementwise
from moonxi.backends.numpy.error_function import erf
from moonxi.backends.numpy.indexed import NumpyIndexed
from moonxi.backends.numpy.products import product
from moonxi.backends.numpy.reducing import NumpyReducing
from moonxi.backends.numpy.selection import bits, every_bit, selected
from moonxi.backends.numpy.shaping import NumpyShaping
from moonxi.dtypes import HostArray
from moonxi.traits import Axes, Index, Shape
from moonxi.traits.class_indices import checked
from moonxi.traits.kernels import Call, Kernel, Kind

_ROW = 32
"""Elements of a row that are worth a row of zeros."""


def _where(on: HostArray, mask: NDArray[np.bool_], off: HostArray | float, *, out: HostArray) -> None:
    if out.ndim == 0:
        out[()] = on if mask else off
    elif isinstance(off, float) and off == 0.0 and copysign(1.0, off) > 0.0:
        np.bitwise_and(bits(on), every_bit(mask, on.dtype), bits(out))
    else:
        np.copyto(out, selected(mask, on, off))


def _relu(x: HostArray, *, out: HostArray) -> None:
    if x.ndim and x.shape[-1] >= _ROW and x.flags.c_contiguous:
        np.maximum(x, _zeros(x.shape[-1], x.dtype), out=out)  # of a number NumPy takes the maximum at a third the speed
    else:
        np.maximum(x, 0.0, out=out)


@cache
def _zeros(count: int, dtype: np.dtype[np.floating]) -> HostArray:
    return np.zeros(count, dtype)


def _reduction(reduce: Callable[..., object], found: Callable[..., Sequence[Call] | None] | None = None) -> Kernel:
    def call(x: HostArray, axes: Axes = None, *, keepdims: bool = False, out: HostArray) -> None:
        reduce(x, axis=axes, keepdims=keepdims, out=out)

    return Kernel(Kind.INTO, call, direct=found or direct.reduction(reduce))


def _matmul(left: HostArray, right: HostArray, *, out: HostArray) -> None:
    product(left, right, out)


def _argmax(x: HostArray, axis: int, *, out: NDArray[np.int64]) -> None:
    np.argmax(x, axis, out=out)


def _put_slice(x: HostArray, index: Index, shape: Shape, *, out: HostArray) -> None:
    out.fill(0.0)
    out[index] = x


def _concatenate(*arrays: HostArray, axis: int, out: HostArray) -> None:
    np.concatenate(arrays, axis, out=out)


def _pick(x: HostArray, labels: NDArray[Any], *, out: HostArray) -> None:
    classes = x.shape[-1]
    places = _places(checked(labels, classes, "pick"), classes)
    np.take(x.reshape(-1), places, out=out.reshape(-1), mode="clip")  # with another mode NumPy takes a copy


def _put(x: HostArray, labels: NDArray[Any], classes: int, *, out: HostArray) -> None:
    _spread(x.reshape(-1), checked(labels, classes, "put"), out)


def _one_hot(x: HostArray, labels: NDArray[Any], classes: int, *, out: HostArray) -> None:
    _spread(1.0, checked(labels, classes, "one_hot"), out)


def _spread(values: HostArray | float, labels: NDArray[Any], out: HostArray) -> None:
    out.fill(0.0)
    out.reshape(-1)[_places(labels, out.shape[-1])] = values


def _places(labels: NDArray[Any], classes: int) -> NDArray[np.int64]:
    """Where in a flat array of a row for each label the element of its class is."""
    places: NDArray[np.int64] = _row_starts(labels.size, classes) + labels.reshape(-1)
    return places


@lru_cache(16)
def _row_starts(rows: int, columns: int) -> NDArray[np.int64]:
    return np.arange(rows) * columns


_E = NumpyElementwise
KERNELS: dict[object, Kernel] = {
    **{
        method: Kernel(Kind.ELEMENTWISE, function)
        for method, function in (
            (_E.__add__, np.add),
            (_E.__sub__, np.subtract),
            (_E.__mul__, np.multiply),
            (_E.__truediv__, np.divide),
            (_E.__pow__, np.power),
            (_E.__neg__, np.negative),
            (_E.exp, np.exp),
            (_E.expm1, np.expm1),
            (_E.log, np.log),
            (_E.log1p, np.log1p),
            (_E.sin, np.sin),
            (_E.cos, np.cos),
            (_E.erf, erf),
            (_E.tanh, np.tanh),
            (_E.abs, np.absolute),
            (_E.sign, np.sign),
            (_E.sqrt, np.sqrt),
            (_E.floor, np.floor),
            (_E.square, np.square),
            (_E.maximum, np.maximum),
            (_E.minimum, np.minimum),
            (_E.__lt__, np.less),
            (_E.__le__, np.less_equal),
            (_E.__gt__, np.greater),
            (_E.__ge__, np.greater_equal),
            (_E.equal, np.equal),
            (_E.not_equal, np.not_equal),
        )
    },
    _E.where: Kernel(Kind.ELEMENTWISE, _where, direct=direct.where),
    _E.relu: Kernel(Kind.ELEMENTWISE, _relu, direct=direct.relu),
    _E.__rsub__: Kernel(Kind.ELEMENTWISE, np.subtract, swapped=True),
    _E.__rtruediv__: Kernel(Kind.ELEMENTWISE, np.divide, swapped=True),
    NumpyReducing.sum: _reduction(np.add.reduce, direct.total),
    NumpyReducing.prod: _reduction(np.multiply.reduce),
    NumpyReducing.max: _reduction(np.maximum.reduce, direct.largest),
    NumpyReducing.min: _reduction(np.minimum.reduce),
    NumpyBlas.matmul: Kernel(Kind.INTO, _matmul, direct=direct.matmul),
    NumpyIndexed.argmax: Kernel(Kind.INTO, _argmax),
    NumpyIndexed.pick: Kernel(Kind.INTO, _pick, direct=direct.pick),
    NumpyIndexed.put: Kernel(Kind.INTO, _put, direct=direct.put),
    NumpyIndexed.one_hot: Kernel(Kind.INTO, _one_hot),
    NumpyShaping.put_slice: Kernel(Kind.INTO, _put_slice),
    NumpyShaping.concatenate: Kernel(Kind.INTO, _concatenate),
    NumpyShaping.reshape: Kernel(Kind.VIEW, np.ndarray.reshape),
    NumpyShaping.permute: Kernel(Kind.VIEW, np.ndarray.transpose),
    NumpyShaping.broadcast_to: Kernel(Kind.VIEW, np.broadcast_to),
    NumpyShaping.__getitem__: Kernel(Kind.VIEW, lambda x, index: x[index]),
}
"""By method. Labels are checked here as there."""
