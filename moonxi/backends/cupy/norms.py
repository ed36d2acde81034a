"""Batch norms together with formulas: one kernel, or three where a group of channels is too much for a few blocks."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final

import numpy as np

from moonxi.backends.cupy import norm_source, sources
from moonxi.backends.cupy.device import Kernels
from moonxi.backends.cupy.layouts import ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.formulas import Formula, Kind
from moonxi.norms import NormGradients, Norms
from moonxi.traits import Shape

_THREADS: Final = 256
"""As in kernels/norms.cuh."""
_BYTES: Final = 16
"""What a thread reads at a time."""
_CLUSTER: Final = 8
"""Blocks of a cluster, at most: so many can be had on every GPU that has clusters."""
_FEW: Final = 8
"""Rows of a thread, at most, that a block reads alone, and others in a cluster: to read these takes as long as to start
a cluster, or two kernels more."""
_ROWS: Final = 4
"""Rows of a thread, at least, in a cluster: it reads so many at a time."""
_CACHED: Final = 1 << 17
"""Bytes that a block goes through twice, at most, for the second time to find them in its cache."""
_STATISTIC: Final = {True: 3, False: 2}
"""Numbers of a statistic, forward and backward."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How the work on rows of channels is divided."""

    lanes: int
    alone: bool
    """Whether one kernel does it."""
    across: int
    """Threads along the channels."""
    groups: int
    splits: int


@lru_cache(maxsize=1024)
def _way(space: Space, rows: int, channels: int, lanes: int, arrays: int) -> _Way:
    """For so many arrays that are read."""
    vectors, processors = channels // lanes, space.device.processors
    across = min(8 if lanes == 1 else 2, _power(vectors))
    groups = -(-vectors // across)
    down = _THREADS // across
    splits = 1
    most = _CLUSTER if space.device.has_clusters and rows > _FEW * down else 1
    while splits < most and groups * splits * 2 <= processors and rows > splits * down * _ROWS:
        splits *= 2
    bytes = -(-rows // splits) * across * lanes * space.itemsize * arrays
    if bytes <= _CACHED and rows <= _FEW * splits * down:
        return _Way(lanes, True, across, groups, splits)
    across = min(32 if lanes == 1 else 8, _power(vectors))
    groups = -(-vectors // across)
    down = _THREADS // across
    splits = max(1, min(4 * processors // groups, -(-rows // (8 * down))))
    return _Way(lanes, False, across, groups, splits)


def normalised(space: Space, norms: Norms, operands: Sequence[DeviceArray]) -> list[DeviceArray]:
    """As `moonxi.norms.WithNorms` says; all lies with the channels last."""
    count = 3 * len(norms.eps)
    work = _Work(space, norms, operands[0].shape)
    for place, eps in zip(range(0, count, 3), norms.eps, strict=True):
        x, weight, bias = operands[place : place + 3]
        work.norm(work.whole(x), (work.vector(weight), work.vector(bias)), 2, eps)
    work.formula(norms.formula, operands[count:], given=len(norms.eps))
    work.launch()
    return [*work.results, *work.vectors]


def normalised_gradients(space: Space, norms: NormGradients, operands: Sequence[DeviceArray]) -> list[DeviceArray]:
    """As `moonxi.norms.WithNorms` says; all lies with the channels last."""
    count = len(norms.formula.kinds)
    work = _Work(space, norms, operands[count].shape)
    found: list[DeviceArray] = []
    for place, eps in zip(range(count, len(operands), 4), norms.eps, strict=True):
        x, *vectors = operands[place : place + 4]
        dx = work.made(space)
        work.norm(work.whole(x), [work.vector(one) for one in vectors], 2, eps, dx)
        found += [dx, *work.vectors[-2:]]
    work.formula(norms.formula, operands[:count], given=0)
    work.launch()
    return [*work.results, *found]


class _Work:
    """The words of the struct ``Work`` of a generated kernel, and what they point to."""

    def __init__(self, space: Space, norms: Norms | NormGradients, shape: Shape) -> None:
        self._space, self._norms, self._shape = space, norms, shape
        self._strides = ordered(shape, (0, *range(2, len(shape)), 1))
        self._channels, self._rows = shape[1], prod(shape) // max(1, shape[1])
        self._blocks: list[tuple[list[int], float]] = []
        self._words: list[int] = []
        self._held: list[DeviceArray] = []
        self._read = 0
        self._aligned = self._channels % self._width == 0
        self.results: list[DeviceArray] = []
        self.vectors: list[DeviceArray] = []
        """What comes of each norm for each channel."""

    @property
    def _width(self) -> int:
        """Channels that a thread takes at a time, if they lie so."""
        return 1 if self._space.itemsize > 4 else _BYTES // self._space.itemsize

    def whole(self, x: DeviceArray, space: Space | None = None) -> int:
        """The address of a tensor with the channels last."""
        x = (space or self._space).laid(x, self._strides)
        self._held.append(x)
        self._read += 1
        self._aligned = self._aligned and x.pointer % (self._width * x.itemsize) == 0
        return x.pointer

    def vector(self, x: DeviceArray) -> int:
        """The address of a number for each channel."""
        x = self._space.compact(x)
        self._held.append(x)
        return x.pointer

    def made(self, space: Space) -> DeviceArray:
        """Memory for a tensor with the channels last."""
        return space.empty(self._shape, self._strides)

    def norm(
        self, x: int, vectors: Sequence[int], results: int, eps: float, gradient: DeviceArray | None = None
    ) -> None:
        """One norm: its tensor, vectors of its channels, and how many such vectors come of it."""
        made = [self._space.empty((self._channels,)) for _ in range(results)]
        self.vectors += made
        words = [x, *vectors, *([] if gradient is None else [gradient.pointer]), *(one.pointer for one in made)]
        self._blocks.append((words, eps))

    def formula(self, formula: Formula, operands: Sequence[DeviceArray], given: int) -> None:
        """Where the operands of the formula lie, but for those that are given, and its results."""
        space, axes = self._space, []
        for number, x in enumerate(operands, given):
            own = space.booleans if formula.masks[number] else space
            kind = formula.kinds[number]
            if kind is Kind.EACH:
                self._words.append(self.whole(x, own))
                continue
            if kind is Kind.AXIS:
                axis = next((place for place, size in enumerate(x.shape) if size != 1), 0)
                of_all = axis + len(self._shape) - len(x.shape)
                axes += [self._strides[of_all], x.shape[axis], x.strides[axis]]
            self._held.append(x)
            self._words.append(x.pointer)
        self.results = [self.made(space.booleans if formula.is_mask(value) else space) for value in formula.results]
        self._words += [*axes, *(one.pointer for one in self.results)]

    def launch(self) -> None:
        """Run it."""
        space = self._space
        if not self._rows * self._channels:
            return
        way = _way(space, self._rows, self._channels, self._width if self._aligned else 1, self._read)
        key = self._norms, way.lanes, way.alone
        kernels = space.norms.get(key)
        if kernels is None:
            kernels = space.norms[key] = _kernels(space, self._norms, way)
        threads = way.across, _THREADS // way.across
        blocks = way.groups * way.splits
        if way.alone:
            cluster = way.splits
            rounds = min(way.groups, space.device.most_blocks // cluster)
            kernels.launch_blocks("together", rounds * cluster, threads, self._pack(way, 0), cluster=cluster)
            return
        numbers = (way.splits + 1) * way.groups * way.across * way.lanes * _STATISTIC[isinstance(self._norms, Norms)]
        parts = space.empty((len(self._blocks), numbers), itemsize=space.wide)
        pack = self._pack(way, parts.pointer)
        most = space.device.most_blocks
        kernels.launch_blocks("measure", min(blocks, most), threads, pack)
        kernels.launch_blocks("finish", min(way.groups * way.across * way.lanes, most), threads, pack)
        kernels.launch_blocks("apply", min(blocks, most), threads, pack)

    def _pack(self, way: _Way, parts: int) -> bytes:
        words: list[int] = []
        bytes = (way.splits + 1) * way.groups * way.across * way.lanes * self._space.wide
        for number, (own, eps) in enumerate(self._blocks):
            mine = parts and parts + number * bytes * _STATISTIC[isinstance(self._norms, Norms)]
            words += [*own, mine, _bits(eps)]
        words += [self._rows, self._channels, way.splits, *self._words]
        return array("q", words).tobytes()


@lru_cache(maxsize=64)
def _bits(number: float) -> int:
    """Those of a number in double precision."""
    return int(np.float64(number).view(np.int64))


def _kernels(space: Space, norms: Norms | NormGradients, way: _Way) -> Kernels:
    def source() -> str:
        return norm_source.source(norms, space.element, way.lanes, alone=way.alone)

    return Kernels(space.device, source, sources.EXACT)


def _power(count: int) -> int:
    """The smallest power of two that is not less, and at least 1."""
    return 1 << max(0, count - 1).bit_length()
