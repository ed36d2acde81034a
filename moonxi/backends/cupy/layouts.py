"""How arrays lie in memory: strides, counted in elements, and the walks on which kernels go through several arrays."""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from moonxi.errors import ShapeError
from moonxi.traits import Shape

type Strides = tuple[int, ...]
type Struct = bytes
"""The 64-bit words of a struct that a kernel is given, such as ``Walk`` of kernels/prelude.cuh."""

_RANK = 12
_ARRAYS = 4


@lru_cache(maxsize=4096)
def row_major(shape: Shape) -> Strides:
    """The strides of an array whose last axis lies together."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


@lru_cache(maxsize=4096)
def ordered(shape: Shape, order: tuple[int, ...]) -> Strides:
    """The strides of an array whose axes lie in this order, the outermost first."""
    inner = row_major(tuple(shape[axis] for axis in order))
    return tuple(inner[order.index(axis)] for axis in range(len(shape)))


@lru_cache(maxsize=4096)
def is_dense(shape: Shape, strides: Strides) -> bool:
    """Whether the elements lie together, without gaps or repetition, in any order of the axes."""
    step = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape, strict=True) if size != 1):
        if stride != step:
            return prod(shape) == 0
        step *= size
    return True


@lru_cache(maxsize=4096)
def lie_alike(shape: Shape, left: Strides, right: Strides) -> bool:
    """Whether two arrays of a shape lie the same way; the stride of an axis of size 1 says nothing."""
    return left == right or all(a == b for a, b, size in zip(left, right, shape, strict=True) if size != 1)


@lru_cache(maxsize=4096)
def broadcast(shape: Shape, strides: Strides, wanted: Shape) -> Strides:
    """The strides after repeating along new axes and axes of size 1."""
    lead = len(wanted) - len(shape)
    return (0,) * lead + tuple(
        0 if size == 1 and target != 1 else stride
        for size, stride, target in zip(shape, strides, wanted[lead:], strict=True)
    )


def merged(shape: Shape, *arrays: Strides) -> tuple[list[int], list[list[int]]]:
    """Sizes, and strides of each array, with axes that every array passes through as one put together."""
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in arrays]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if sizes and all(own[-1] == array[axis] * size for own, array in zip(strides, arrays, strict=True)):
            sizes[-1] *= size
            for own, array in zip(strides, arrays, strict=True):
                own[-1] = array[axis]
        else:
            sizes.append(size)
            for own, array in zip(strides, arrays, strict=True):
                own.append(array[axis])
    return sizes, strides


@lru_cache(maxsize=8192)
def walk(shape: Shape, *arrays: Strides) -> Struct:
    """How kernels go through arrays of a shape, the last axis fastest."""
    sizes, strides = merged(shape, *arrays)
    if len(sizes) > _RANK:
        raise ShapeError(f"GpuTensor: {shape}: more than {_RANK} axes that do not lie together; copy it with + 0.0")
    struct = np.zeros(2 + _RANK * (1 + _ARRAYS), np.int64)
    struct[0], struct[1] = prod(shape), len(sizes)
    table = struct[2:].reshape(1 + _ARRAYS, _RANK)
    table[0, : len(sizes)] = sizes
    for row, own in enumerate(strides, 1):
        table[row, : len(own)] = own
    return struct.tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How the result of an operation on several arrays lies, and how a kernel goes through all of them."""

    shape: Shape
    strides: Strides
    count: int
    walk: Struct | None
    """None if all operands lie as the result does."""


@lru_cache(maxsize=4096)
def compact(shape: Shape) -> Plan:
    """How a result lies whose last axis lies together."""
    return Plan(shape, row_major(shape), prod(shape), None)


@lru_cache(maxsize=4096)
def lying(shape: Shape, order: tuple[int, ...]) -> Plan:
    """How a result without gaps lies whose axes are in this order, the outermost first."""
    return Plan(shape, ordered(shape, order), prod(shape), None)


@lru_cache(maxsize=8192)
def plan(shape: Shape, *operands: tuple[Shape, Strides]) -> Plan:
    """The plan for operands that broadcast to a shape: the result lies as the first whole operand without gaps does."""
    strides = row_major(shape)
    for own_shape, own in operands:
        if own_shape == shape and is_dense(shape, own):
            strides = own
            break
    count = prod(shape)
    spread = [broadcast(own_shape, own, shape) for own_shape, own in operands]
    if all(lie_alike(shape, own, strides) for own in spread) or count == 0:
        return Plan(shape, strides, count, None)
    order = sorted(range(len(shape)), key=lambda axis: -strides[axis])
    turned = [tuple(own[axis] for axis in order) for own in spread]
    return Plan(shape, strides, count, walk(tuple(shape[axis] for axis in order), *turned))
