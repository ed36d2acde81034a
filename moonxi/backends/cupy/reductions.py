"""Sums, largest elements and what else goes along axes."""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from moonxi.backends.cupy.centred import Centred
from moonxi.backends.cupy.layouts import Plan, Strides, Struct, compact, is_dense, merged, row_major, walk
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.pending import Pending
from moonxi.traits import Shape

_BLOCKS = 1056
"""As many blocks as keep a large GPU busy."""
_THREADS = 256
_OWN = 16
"""Elements a thread has at least before a sum is split further."""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """How a reduction goes over an array: see kernels/folding.cuh."""

    result: Plan
    """Of the axes that stay."""
    parts: Plan
    """Of what comes of each split, ``(splits, results)``."""
    kept: Struct
    gone: Struct
    kind: str
    threads: tuple[int, int]
    groups: int
    """Blocks for each split."""
    splits: int


@lru_cache(maxsize=4096)
def fold(shape: Shape, strides: Strides, axes: tuple[int, ...]) -> Fold:
    """The way to reduce over these axes."""
    stay = [axis for axis in range(len(shape)) if axis not in axes]
    over = sorted(axes, key=lambda axis: -abs(strides[axis]))
    kept_shape, kept_strides = tuple(shape[a] for a in stay), tuple(strides[a] for a in stay)
    gone_shape, gone_strides = tuple(shape[a] for a in over), tuple(strides[a] for a in over)
    results, elements = prod(kept_shape), prod(gone_shape)
    _, (inner_kept,) = merged(kept_shape, kept_strides)
    _, (inner_gone,) = merged(gone_shape, gone_strides)
    nearest = abs(inner_gone[-1]) if inner_gone else results + 1
    neighbours = bool(inner_kept) and abs(inner_kept[-1]) < nearest
    if neighbours or elements <= 16:
        down = min(8, _power(elements))
        threads, kind = (_THREADS // down, down), "columns"
        if neighbours and results <= 32 * _BLOCKS and elements > 16:
            threads = (32, 8)
        groups = max(1, -(-results // threads[0]))
        own = threads[1]
    else:
        own = min(_THREADS, max(32, _power(elements)))
        threads, kind, groups = (own, 1), "rows", max(1, results)
    splits = max(1, min(-(-_BLOCKS // groups), elements // (own * _OWN)))
    kept, gone = walk(kept_shape, kept_strides), walk(gone_shape, gone_strides)
    result, parts = compact(kept_shape), compact((splits, results))
    return Fold(result, parts, kept, gone, kind, threads, groups, splits)


def reduced(space: Space, name: str, x: DeviceArray, axes: tuple[int, ...]) -> DeviceArray:
    """The sum or the largest over the axes, which go away."""
    if name == "sum" and isinstance(x, Centred) and (known := x.sums(space, axes)) is not None:
        return known
    how = fold(x.shape, x.strides, axes)
    out = space.planned(how.result)
    if not how.result.count:
        return out
    of, source, most = f"{name}_{how.kind}", x, space.device.most_blocks
    if name == "sum" and isinstance(x, Pending) and x.base is not None and x.is_square:
        of, source = f"sum_squared_{how.kind}", x.base
    launch, blocks = space.reductions.launch_blocks, min(how.groups * how.splits, most)
    if how.splits == 1:
        launch(of, blocks, how.threads, source.pointer, out.pointer, how.kept, how.gone)
        return out
    parts = space.planned(how.parts, space.wide)  # in the type that is computed in
    launch(f"{of}_split", blocks, how.threads, source.pointer, parts.pointer, how.kept, how.gone, how.splits)
    across, down = 32, min(8, _power(how.splits))
    blocks = min(-(-how.result.count // across), most)
    launch(f"{name}_finish", blocks, (across, down), parts.pointer, out.pointer, how.result.count, how.splits)
    return out


def argmax(space: Space, x: DeviceArray, axis: int) -> DeviceArray:
    """The index of the first largest along an axis, int64."""
    shape, strides = _without(x.shape, axis), _without(x.strides, axis)
    out = space.integers.empty(shape)
    rows, length = prod(shape), x.shape[axis]
    if rows:
        threads = min(_THREADS, max(32, _power(length)))
        blocks = min(rows, space.device.most_blocks)
        space.reductions.launch_blocks(
            "argmax", blocks, (threads, 1), x.pointer, out.pointer, walk(shape, strides), x.strides[axis], length
        )
    return out


def softmax(space: Space, name: str, x: DeviceArray, axis: int) -> DeviceArray:
    """The softmax along an axis, or its logarithm; the axis is not empty."""
    out = space.empty(x.shape, x.strides if is_dense(x.shape, x.strides) else row_major(x.shape))
    shape, length = _without(x.shape, axis), x.shape[axis]
    rows = prod(shape)
    if rows:
        across = 32 if length <= 1024 else _THREADS
        if length <= 16:
            across = _power(length)
        down = _THREADS // across
        blocks = min(-(-rows // down), space.device.most_blocks)
        way = walk(shape, _without(x.strides, axis), _without(out.strides, axis))
        ends = (x.strides[axis], out.strides[axis], length)
        space.reductions.launch_blocks(name, blocks, (across, down), x.pointer, out.pointer, way, *ends)
    return out


def _without(sizes: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*sizes[:axis], *sizes[axis + 1 :])


def _power(count: int) -> int:
    """The smallest power of two that is not less, and at least 1."""
    return 1 << max(0, count - 1).bit_length()
