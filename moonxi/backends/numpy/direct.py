"""Small kernels as calls of NumPy's own functions on memory that is prepared: for arrays that stay where they are.

In a step of many small operations the Python around a kernel, its views and its memory take longer than the numbers.
A `Form` stands for an array that is known at the call only; what cannot be done so gives None.
"""

from collections.abc import Sequence
from math import copysign
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.numpy import products
from moonxi.dtypes import HostArray
from moonxi.traits import Axes
from moonxi.traits.class_indices import checked
from moonxi.traits.kernels import Call, Form

type _Given = HostArray | Form

_SMALL: Final = 1 << 16
"""Elements up to which the Python counts, and further memory of the same size is in the cache."""
_SHORT: Final = 64
"""Elements of a row whose largest is found sooner in the columns of the turned matrix."""


def relu(x: _Given, *, out: _Given) -> Sequence[Call] | None:
    """A maximum with a row of zeros: a number NumPy takes at a third of the speed. Short rows are taken together."""
    if not (isinstance(x, np.ndarray) and isinstance(out, np.ndarray) and _are_flat(x, out)):
        return None
    row = next((count for count in (1024, 512, 256, 128, 64, 32) if x.size and x.size % count == 0), None)
    if row is None:
        return None
    return [Call(np.maximum, (x.reshape(-1, row), np.zeros(row, x.dtype)), out.reshape(-1, row))]


def where(on: _Given, mask: _Given, off: object, *, out: _Given) -> Sequence[Call] | None:
    """The bits of the numbers where the mask is, by integers that have all bits or none."""
    if not (isinstance(on, np.ndarray) and isinstance(mask, np.ndarray) and isinstance(out, np.ndarray)):
        return None
    if not (isinstance(off, float) and off == 0.0 and copysign(1.0, off) > 0.0):
        return None
    if out.ndim == 0 or not on.shape == mask.shape == out.shape or not _is_small(out):
        return None
    integer: type[Any] = np.int32 if out.itemsize == 4 else np.int64
    narrow, wide = np.empty(out.shape, np.int8), np.empty(out.shape, integer)
    return [
        Call(np.negative, (mask.view(np.int8),), narrow),
        Call(np.copyto, (wide, narrow)),
        Call(np.bitwise_and, (on.view(integer), wide), out.view(integer)),
    ]


def matmul(left: _Given, right: _Given, *, out: _Given) -> Sequence[Call] | None:
    """A product of two matrices that is not shared."""
    if not isinstance(out, np.ndarray) or len(left.shape) != 2 or len(right.shape) != 2:
        return None
    rows, inner = left.shape
    count = products.pieces(rows, inner, right.shape[1])
    if count < 2:
        return [Call(np.matmul, (left, right), out)] if count else None
    shape = count, rows // count, inner
    result = out.reshape(count, rows // count, -1)

    def multiply(left: HostArray, right: HostArray) -> None:
        if products.is_by_rows(right):
            np.matmul(left.reshape(shape), right, result)
        else:
            np.matmul(left, right, out)

    return [Call(multiply, (left, right))]


def reduction(reduce: Any) -> Any:
    """A ``reduce`` of NumPy without what stands around it."""

    def calls(x: _Given, axes: Axes = None, *, keepdims: bool = False, out: _Given) -> Sequence[Call]:
        return [Call(reduce, (x, axes, None, out, True)) if keepdims else Call(reduce, (x, axes), out)]

    return calls


def total(x: _Given, axes: Axes = None, *, keepdims: bool = False, out: _Given) -> Sequence[Call]:
    """Few rows are added up by a product with ones, in another order."""
    if len(x.shape) == 2 and axes in (0, (0,)) and not keepdims and _is_small(x):
        return [Call(np.dot, (np.ones(x.shape[0], x.dtype), x), out)]
    calls: Sequence[Call] = reduction(np.add.reduce)(x, axes, keepdims=keepdims, out=out)
    return calls


def largest(x: _Given, axes: Axes = None, *, keepdims: bool = False, out: _Given) -> Sequence[Call]:
    """The largest of each of many short rows is found in the columns of the turned matrix, many at a time."""
    if (
        isinstance(x, np.ndarray)
        and isinstance(out, np.ndarray)
        and axes in (-1, (-1,))
        and x.ndim == 2
        and x.shape[1] <= min(_SHORT, x.shape[0])
        and _is_small(x)
    ):
        turned = np.empty(x.shape[::-1], x.dtype)
        return [Call(np.copyto, (turned, x.T)), Call(np.maximum.reduce, (turned, 0, None, out.reshape(-1)))]
    calls: Sequence[Call] = reduction(np.maximum.reduce)(x, axes, keepdims=keepdims, out=out)
    return calls


def pick(x: _Given, labels: _Given, *, out: _Given) -> Sequence[Call] | None:
    """By the places in the flat array."""
    if not (isinstance(x, np.ndarray) and isinstance(out, np.ndarray) and _are_flat(x, out) and len(labels.shape) == 1):
        return None
    find, places = _found(labels, x.shape[-1], "pick")
    return [*find, Call(np.ndarray.take, (x.reshape(-1), places, None, out.reshape(-1), "clip"))]


def put(x: _Given, labels: _Given, classes: int, *, out: _Given) -> Sequence[Call] | None:
    """To the places in the flat array."""
    if not (isinstance(x, np.ndarray) and isinstance(out, np.ndarray) and _are_flat(x, out) and len(labels.shape) == 1):
        return None
    find, places = _found(labels, classes, "put")
    return [*find, Call(out.fill, (0.0,)), Call(np.ndarray.__setitem__, (out.reshape(-1), places, x.reshape(-1)))]


def _found(labels: _Given, classes: int, operation: str) -> tuple[list[Call], NDArray[np.int64]]:
    """Calls that check labels and find where in a flat array of a row for each the element of its class is."""
    count = labels.shape[0]
    places = np.empty(count, np.int64)
    starts = np.arange(count) * classes
    return [Call(checked, (labels, classes, operation)), Call(np.add, (starts, labels), places)], places


def _are_flat(*arrays: HostArray) -> bool:
    return all(array.flags.c_contiguous for array in arrays)


def _is_small(x: _Given) -> bool:
    return int(np.prod(x.shape)) <= _SMALL
