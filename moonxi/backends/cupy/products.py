"""Products of matrices by cuBLAS."""

from math import prod

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
_SINGLE, _DOUBLE = np.array([0.0, 1.0], np.float32), np.array([0.0, 1.0])
_SCALARS = {1: (_DOUBLE.ctypes.data, _DOUBLE.ctypes.data + 8)}
"""The addresses of 0 and 1 in the type that the products of a kind are scaled in, where it is not single precision."""
_SINGLES = (_SINGLE.ctypes.data, _SINGLE.ctypes.data + 4)


def product(space: Space, left: DeviceArray, right: DeviceArray, shape: Shape) -> DeviceArray:
    """``(..., n, k) @ (..., k, m)``, whose leading axes broadcast to those of ``shape``."""
    out = space.empty(shape)
    lead = shape[:-2]
    if len(left.shape) == len(right.shape) == 2:
        multiply(space, left, right, out)
        return out
    left, right = (_flat(space, repeated(one, (*lead, *one.shape[-2:]))) for one in (left, right))
    multiply(space, left, right, out.view((prod(lead), *shape[-2:]), row_major((prod(lead), *shape[-2:]))))
    return out


def multiply(space: Space, left: DeviceArray, right: DeviceArray, out: DeviceArray, *, add: bool = False) -> None:
    """Write ``(n, k) @ (k, m)``, or batches of these, to rows that lie together, or add it to what is there."""
    rows, columns = out.shape[-2:]
    inner = left.shape[-1]
    if not out.count:
        return
    if not inner:
        if not add:
            space.copy(repeated(space.full((), 0.0), out.shape), out)
        return
    left, left_turned, left_leading = _oriented(space, left)
    right, right_turned, right_leading = _oriented(space, right)
    calls = cublas.calls()
    if space.device.several:
        space.device.enter()
    kind = _KINDS[space.element]
    zero, one = _SCALARS.get(kind, _SINGLES)
    compute = _COMPUTE_64F if space.element is F64 else _COMPUTE_32F_FAST_TF32 if space.tf32 else _COMPUTE_32F
    # In its order of memory cuBLAS computes the transpose: (right^T left^T) = (left right)^T.
    sizes = (right_turned, left_turned, columns, rows, inner)
    ends = (compute, _DEFAULT_ALGORITHM)
    leading = max(columns, out.strides[-2])
    b, a = (right.pointer, kind, right_leading), (left.pointer, kind, left_leading)
    c = (out.pointer, kind, leading)
    before = one if add else zero
    batch = 1 if len(out.shape) == 2 else out.shape[0]
    if batch == 1:
        calls.gemm(*sizes, one, *b, *a, before, *c, *ends)
        return
    steps = (right.strides[0], left.strides[0], out.strides[0])
    calls.gemm_batched(*sizes, one, *b, steps[0], *a, steps[1], before, *c, steps[2], batch, *ends)


def _flat(space: Space, x: DeviceArray) -> DeviceArray:
    """One leading axis, without a copy where one stride goes through all."""
    count = prod(x.shape[:-2])
    sizes, (strides,) = merged(x.shape[:-2], x.strides[:-2])
    if len(sizes) > 1:
        x = space.compact(x)
        strides = [x.shape[-2] * x.shape[-1]]
    return x.view((count, *x.shape[-2:]), (strides[0] if strides else 0, *x.strides[-2:]))


def _oriented(space: Space, x: DeviceArray) -> tuple[DeviceArray, int, int]:
    """The matrices, copied if neither their rows nor their columns lie together; whether cuBLAS, which sees rows and
    columns exchanged, is to turn them, and from where to where it goes for the next row or column."""
    rows, columns = x.shape[-2:]
    down, across = x.strides[-2:]
    if (across == 1 or columns == 1) and (rows == 1 or down >= columns):
        return x, 0, down if rows > 1 else columns
    if (down == 1 or rows == 1) and (columns == 1 or across >= rows):
        return x, 1, across if columns > 1 else rows
    return space.compact(x), 0, columns
