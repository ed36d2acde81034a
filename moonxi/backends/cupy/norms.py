"""Batch norms together with formulas: one kernel, or three where a group of channels is too much for a few blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from struct import pack
from typing import Final, NamedTuple

import numpy as np

from moonxi.backends.cupy import norm_source, sources
from moonxi.backends.cupy.device import Kernels
from moonxi.backends.cupy.layouts import Strides, ordered
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
    for place in range(0, count, 3):
        work.norm(operands[place], operands[place + 1 : place + 3])
    work.formula(norms.formula, operands[count:], given=len(norms.eps))
    work.launch()
    return [*work.results, *work.vectors]


def normalised_gradients(space: Space, norms: NormGradients, operands: Sequence[DeviceArray]) -> list[DeviceArray]:
    """As `moonxi.norms.WithNorms` says; all lies with the channels last."""
    count = len(norms.formula.kinds)
    work = _Work(space, norms, operands[count].shape)
    found: list[DeviceArray] = []
    for place in range(count, len(operands), 4):
        dx = work.made(space)
        work.norm(operands[place], operands[place + 1 : place + 4], dx)
        found += [dx, *work.vectors[-2:]]
    work.formula(norms.formula, operands[:count], given=0)
    work.launch()
    return [*work.results, *found]


class _Facts(NamedTuple):
    """What is known of a group of norms, and of tensors of a shape, without the tensors."""

    strides: Strides
    """With the channels last."""
    channels: int
    rows: int
    width: int
    """Channels that a thread takes at a time, if they lie so; 1 if they never do."""
    elements: int
    """Of a tensor."""
    statistic: int
    """Numbers of a statistic."""
    eps: tuple[int, ...]
    """The bits of each."""
    results: tuple[Space, ...]
    """Where each result of the formula lives."""


@lru_cache(maxsize=1024)
def _facts(space: Space, norms: Norms | NormGradients, shape: Shape) -> _Facts:
    channels, formula = shape[1], norms.formula
    width = 1 if space.itemsize > 4 else _BYTES // space.itemsize
    return _Facts(
        ordered(shape, (0, *range(2, len(shape)), 1)),
        channels,
        prod(shape) // max(1, channels),
        1 if channels % width else width,
        prod(shape),
        _STATISTIC[isinstance(norms, Norms)],
        tuple(map(_bits, norms.eps)),
        tuple(space.booleans if formula.is_mask(value) else space for value in formula.results),
    )


class _Work:
    """The words of the struct ``Work`` of a generated kernel, and what they point to."""

    __slots__ = (
        *("_aligned", "_blocks", "_facts", "_held", "_norms", "_read", "_shape", "_space", "_words"),
        *("results", "vectors"),
    )

    def __init__(self, space: Space, norms: Norms | NormGradients, shape: Shape) -> None:
        self._space, self._norms, self._shape = space, norms, shape
        self._facts = _facts(space, norms, shape)
        self._blocks: list[list[int]] = []
        self._words: list[int] = []
        self._held: list[DeviceArray] = []
        self._read, self._aligned = 0, True
        self.results: list[DeviceArray] = []
        self.vectors: list[DeviceArray] = []
        """What comes of each norm for each channel."""

    def whole(self, x: DeviceArray, space: Space) -> int:
        """The address of a tensor with the channels last."""
        x = space.laid(x, self._facts.strides)
        self._held.append(x)
        self._read += 1
        if x.pointer % (self._facts.width * x.itemsize):
            self._aligned = False
        return x.pointer

    def vector(self, x: DeviceArray) -> int:
        """The address of a number for each channel."""
        if len(x.strides) != 1 or x.strides[0] != 1:
            x = self._space.compact(x)
        self._held.append(x)
        return x.pointer

    def made(self, space: Space) -> DeviceArray:
        """Memory for a tensor with the channels last."""
        return space.empty(self._shape, self._facts.strides)

    def norm(self, x: DeviceArray, vectors: Sequence[DeviceArray], gradient: DeviceArray | None = None) -> None:
        """One norm: its tensor and vectors of its channels. Two such vectors come of it."""
        made = self._space.vectors(2, self._facts.channels)
        self.vectors += made
        words = [self.whole(x, self._space), *[self.vector(one) for one in vectors]]
        if gradient is not None:
            words.append(gradient.pointer)
        words += [made[0].pointer, made[1].pointer]
        self._blocks.append(words)

    def formula(self, formula: Formula, operands: Sequence[DeviceArray], given: int) -> None:
        """Where the operands of the formula lie, but for those that are given, and its results."""
        space, strides, axes = self._space, self._facts.strides, list[int]()
        for number, x in enumerate(operands, given):
            kind = formula.kinds[number]
            if kind is Kind.EACH:
                self._words.append(self.whole(x, space.booleans if formula.masks[number] else space))
                continue
            if kind is Kind.AXIS:
                axis = next((place for place, size in enumerate(x.shape) if size != 1), 0)
                of_all = axis + len(self._shape) - len(x.shape)
                axes += [strides[of_all], x.shape[axis], x.strides[axis]]
            self._held.append(x)
            self._words.append(x.pointer)
        self.results = [self.made(where) for where in self._facts.results]
        self._words += axes
        self._words += [one.pointer for one in self.results]

    def launch(self) -> None:
        """Run it."""
        space, facts = self._space, self._facts
        if not facts.elements:
            return
        way = _way(space, facts.rows, facts.channels, facts.width if self._aligned else 1, self._read)
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
        numbers = (way.splits + 1) * way.groups * way.across * way.lanes * facts.statistic
        parts = space.empty((len(self._blocks), numbers), itemsize=space.wide)
        words = self._pack(way, parts.pointer)
        most = space.device.most_blocks
        kernels.launch_blocks("measure", min(blocks, most), threads, words)
        kernels.launch_blocks("finish", min(way.groups * way.across * way.lanes, most), threads, words)
        kernels.launch_blocks("apply", min(blocks, most), threads, words)

    def _pack(self, way: _Way, parts: int) -> bytes:
        facts, words = self._facts, list[int]()
        bytes = (way.splits + 1) * way.groups * way.across * way.lanes * self._space.wide * facts.statistic
        for number, own in enumerate(self._blocks):
            words += own
            words.append(parts and parts + number * bytes)
            words.append(facts.eps[number])
        words += (facts.rows, facts.channels, way.splits)
        words += self._words
        return pack(f"{len(words)}q", *words)


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
