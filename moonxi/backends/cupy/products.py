"""Products of matrices by cuBLAS."""

from math import prod
from typing import NamedTuple

import numpy as np

from moonxi.backends.cupy import cublas
from moonxi.backends.cupy.layouts import merged, row_major
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.views import repeated
from moonxi.dtypes import BF16, F16, F32, F64, DType
from moonxi.traits import Shape

_KINDS: dict[type[DType], int] = {F32: 0, F64: 1, F16: 2, BF16: 14}
"""cudaDataType_t."""
_COMPUTE_32F, _COMPUTE_32F_FAST_TF32, _COMPUTE_64F = 68, 77, 70
"""cublasComputeType_t: F16 and BF16 are multiplied exactly and summed in single precision."""
_DEFAULT_ALGORITHM = -1
_SCALARS = {kind: np.array([0.0, 1.0], kind) for kind in (np.float32, np.float64)}


class Matrix(NamedTuple):
    """How a matrix lies for cuBLAS, which sees it with rows and columns exchanged."""

    transposed: int
    leading: int


def product(space: Space, left: DeviceArray, right: DeviceArray, shape: Shape) -> DeviceArray:
    """``(..., n, k) @ (..., k, m)``, whose leading axes broadcast to those of ``shape``."""
    out = space.empty(shape)
    lead = shape[:-2]
    if len(left.shape) == len(right.shape) == 2:
        multiply(space, _batched(left), _batched(right), _batched(out))
        return out
    left, right = (_flat(space, repeated(one, (*lead, *one.shape[-2:]))) for one in (left, right))
    multiply(space, left, right, out.view((prod(lead), *shape[-2:]), row_major((prod(lead), *shape[-2:]))))
    return out


def multiply(space: Space, left: DeviceArray, right: DeviceArray, out: DeviceArray, *, add: bool = False) -> None:
    """Write ``(b, n, k) @ (b, k, m)`` to rows that lie together, or add it to what is there."""
    batch, rows, columns = out.shape
    inner = left.shape[2]
    if not batch * rows * columns:
        return
    if not inner:
        if not add:
            space.copy(repeated(space.full((), 0.0), out.shape), out)
        return
    left, first = _oriented(space, left)
    right, second = _oriented(space, right)
    calls = cublas.calls()
    if space.device.several:
        space.device.enter()
    scalars = _SCALARS[np.float64 if space.element is F64 else np.float32]
    zero = scalars.ctypes.data
    one = zero + scalars.itemsize
    compute = _COMPUTE_64F if space.element is F64 else _COMPUTE_32F_FAST_TF32 if space.tf32 else _COMPUTE_32F
    kind = _KINDS[space.element]
    # In its order of memory cuBLAS computes the transpose: (right^T left^T) = (left right)^T.
    sizes = (second.transposed, first.transposed, columns, rows, inner)
    ends = (compute, _DEFAULT_ALGORITHM)
    leading = max(columns, out.strides[1])
    b, a, c = (right.pointer, kind, second.leading), (left.pointer, kind, first.leading), (out.pointer, kind, leading)
    before = one if add else zero
    if batch == 1:
        calls.gemm(*sizes, one, *b, *a, before, *c, *ends)
        return
    steps = (right.strides[0], left.strides[0], out.strides[0])
    calls.gemm_batched(*sizes, one, *b, steps[0], *a, steps[1], before, *c, steps[2], batch, *ends)


def _batched(x: DeviceArray) -> DeviceArray:
    return x.view((1, *x.shape), (0, *x.strides))


def _flat(space: Space, x: DeviceArray) -> DeviceArray:
    """One leading axis, without a copy where one stride goes through all."""
    count = prod(x.shape[:-2])
    sizes, (strides,) = merged(x.shape[:-2], x.strides[:-2])
    if len(sizes) > 1:
        x = space.compact(x)
        strides = [x.shape[-2] * x.shape[-1]]
    return x.view((count, *x.shape[-2:]), (strides[0] if strides else 0, *x.strides[-2:]))


def _oriented(space: Space, x: DeviceArray) -> tuple[DeviceArray, Matrix]:
    """The matrices, copied if neither their rows nor their columns lie together."""
    _, rows, columns = x.shape
    _, down, across = x.strides
    if (across == 1 or columns == 1) and (rows == 1 or down >= columns):
        return x, Matrix(0, down if rows > 1 else columns)
    if (down == 1 or rows == 1) and (columns == 1 or across >= rows):
        return x, Matrix(1, across if columns > 1 else rows)
    x = space.compact(x)
    return x, Matrix(0, columns)
