"""Batch norms together with formulas: one kernel, or three where a group of channels is too much for a few blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from struct import Struct as Packer
from typing import Final

import numpy as np

from moonxi.backends.cupy import norm_source, sources
from moonxi.backends.cupy.device import Kernels
from moonxi.backends.cupy.layouts import lying
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.formulas import Kind
from moonxi.norms import NormGradients, Norms
from moonxi.traits import Shape

_THREADS: Final = 256
"""As in kernels/norms.cuh."""
_BYTES: Final = 16
"""What a thread reads at a time."""
_FEW: Final = 8
"""Rows of a thread, at most, that a block reads alone, and others in a cluster: to read these takes as long as to start
a cluster, or two kernels more."""
_ROWS: Final = 4
"""Rows of a thread, at least, in a cluster: it reads so many at a time, and keeps so many to the end."""
_CACHED: Final = 1 << 17
"""Bytes that a block goes through twice, at most, for the second time to find them in its cache."""
_STATISTIC: Final = {True: 3, False: 2}
"""Numbers of a statistic, forward and backward."""
_VECTOR: Final = (1,)
"""The strides of one whose elements lie together."""


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


def _way(space: Space, rows: int, channels: int, lanes: int, arrays: int) -> _Way:
    """For so many arrays that are read."""
    vectors, processors = channels // lanes, space.device.processors
    across = min(8 if lanes == 1 else 2, _power(vectors))
    groups = -(-vectors // across)
    down = _THREADS // across
    splits = 1
    most = space.device.most_in_cluster if rows > _FEW * down else 1
    while splits < most and groups * splits * 4 <= processors and rows > splits * down * _ROWS:
        splits *= 2
    bytes = -(-rows // splits) * across * lanes * space.itemsize * arrays
    if bytes <= _CACHED and rows <= _FEW * splits * down:
        return _Way(lanes, True, across, groups, splits)
    across = min(32 if lanes == 1 else 8, _power(vectors))
    groups = -(-vectors // across)
    down = _THREADS // across
    splits = max(1, min(4 * processors // groups, -(-rows // (8 * down))))
    return _Way(lanes, False, across, groups, splits)


class _Launch:
    """The kernels for one way of dividing the work."""

    __slots__ = ("_count", "_kernels", "_numbers", "_pack", "_space", "_threads", "_way")

    def __init__(self, space: Space, norms: Norms | NormGradients, way: _Way, words: int) -> None:
        """They take so many words."""
        key = norms, way.lanes, way.alone
        kernels = space.norms.get(key)
        if kernels is None:
            kernels = space.norms[key] = _kernels(space, norms, way)
        self._space, self._way, self._kernels, self._count = space, way, kernels, len(norms.eps)
        self._threads = way.across, _THREADS // way.across
        self._pack = Packer(f"{words}q").pack
        channels = way.groups * way.across * way.lanes
        self._numbers = (way.splits + 1) * channels * _STATISTIC[isinstance(norms, Norms)]
        """How many the kernels tell each other of one norm."""

    def run(self, words: list[int], ordered: Callable[[list[int]], tuple[int, ...]]) -> None:
        """Launch them: ``words`` and how many splits there are, and where the numbers of each norm lie, in order."""
        way, launch, threads, most = (
            self._way,
            self._kernels.launch_blocks,
            self._threads,
            self._space.device.most_blocks,
        )
        words.append(way.splits)
        if way.alone:
            words += [0] * self._count
            blocks = min(way.groups, most // way.splits) * way.splits
            launch("together", blocks, threads, self._pack(*ordered(words)), cluster=way.splits)
            return
        wide = self._space.wide
        memory = self._space.empty((self._count, self._numbers), itemsize=wide)
        words += [memory.pointer + number * self._numbers * wide for number in range(self._count)]
        packed, blocks = self._pack(*ordered(words)), min(way.groups * way.splits, most)
        launch("measure", blocks, threads, packed)
        launch("finish", min(way.groups * way.across * way.lanes, most), threads, packed)
        launch("apply", blocks, threads, packed)


class Prepared:
    """Norms of tensors of one shape, and a formula: all that is known of them without the tensors.

    What a kernel is given are the addresses of operands and results, and numbers, in the order of the struct."""

    __slots__ = (
        *("_along", "_channels", "_gradients", "_launches", "_lies", "_norms", "_numbers", "_ordered"),
        *(
            "_results",
            "_rows",
            "_space",
            "_strides",
            "_tensors",
            "_unit",
            "_vectors",
            "_width",
            "_with_strides",
            "_words",
        ),
    )

    def __init__(self, space: Space, norms: Norms | NormGradients, shape: Shape) -> None:
        formula, channels = norms.formula, shape[1]
        self._space, self._norms, self._launches = space, norms, dict[bool, _Launch]()
        self._gradients = isinstance(norms, NormGradients)
        self._lies = lying(shape, (0, *range(2, len(shape)), 1))
        self._channels, self._rows = channels, self._lies.count // max(1, channels)
        width = 1 if space.itemsize > 4 else _BYTES // space.itemsize
        self._width = 1 if channels % width else width
        """Channels that a thread takes at a time, if they lie so; 1 if they never do."""
        self._unit = _BYTES if self._width > 1 else 1
        # Operands: tensor, weight and bias of each norm, and then those of the formula but the norms' results; or, for
        # gradients, those of the formula, and then tensor, weight, mean and variance of each norm.
        count = len(norms.eps)
        step, given, first, shift = (4, 0, len(formula.kinds), 0) if self._gradients else (3, count, 0, 2 * count)
        places = range(first, first + step * count, step)
        others = [(number + shift, kind) for number, kind in enumerate(formula.kinds)][given:]
        self._along = [place for place, kind in others if kind is Kind.AXIS]
        self._tensors = dict.fromkeys(places, space)
        for place, kind in others:
            if kind is Kind.EACH:
                self._tensors[place] = space.booleans if formula.masks[place - shift] else space
        self._vectors = [place + number for place in places for number in range(1, step)]
        self._strides = (self._lies.strides,) * len(self._tensors) + (_VECTOR,) * len(self._vectors)
        self._with_strides = itemgetter(*self._tensors, *self._vectors)
        """The operands that have to lie so."""
        self._results = [space.booleans if formula.is_mask(value) else space for value in formula.results]
        # Results: those of the formula, and then of each norm the gradient of its tensor, and two vectors.
        own = 3 if self._gradients else 2
        made = step * count + len(others)
        numbers = made + len(self._results) + own * count
        axes = numbers + 2 + count
        splits = axes + 3 * len(self._along)
        self._numbers = [self._rows, channels, *[int(np.float64(eps).view(np.int64)) for eps in norms.eps]]
        order: list[int] = []
        for number, place in enumerate(places):
            start = made + len(self._results) + own * number
            order += (*range(place, place + step), *range(start, start + own))
            order += (splits + 1 + number, numbers + 2 + number)
        order += (numbers, numbers + 1, splits, *(place for place, _ in others))
        order += (*range(axes, splits), *range(made, made + len(self._results)))
        self._words, self._ordered = len(order), itemgetter(*order)

    def run(self, operands: Sequence[DeviceArray]) -> list[DeviceArray]:
        """The results of the formula, and then what comes of each norm: mean and variance of the channels, or the
        gradients of tensor, weight and bias."""
        if tuple([x.strides for x in self._with_strides(operands)]) != self._strides:
            operands = self._laid(operands)
        space, lies = self._space, self._lies
        results = [where.planned(lies) for where in self._results]
        for _ in self._norms.eps:
            if self._gradients:
                results.append(space.planned(lies))
            results += space.vectors(2, self._channels)
        words = [x.pointer for x in operands]
        misplaced = 0
        for place in self._tensors:
            misplaced |= words[place]
        words += [x.pointer for x in results]
        words += self._numbers
        for place in self._along:
            words += self._way_along(operands[place])
        if lies.count:
            aligned = misplaced % self._unit == 0
            launch = self._launches.get(aligned) or self._launch(aligned)
            launch.run(words, self._ordered)
        return results

    def _laid(self, operands: Sequence[DeviceArray]) -> Sequence[DeviceArray]:
        """The operands with the channels last, and vectors that lie together."""
        laid = list(operands)
        for place, space in self._tensors.items():
            laid[place] = space.laid(laid[place], self._lies.strides)
        for place in self._vectors:
            laid[place] = self._space.laid(laid[place], _VECTOR)
        return laid

    def _way_along(self, x: DeviceArray) -> tuple[int, int, int]:
        """How an operand goes along one axis: its stride in the tensors, its size, the operand's own stride."""
        axis = next((place for place, size in enumerate(x.shape) if size != 1), 0)
        strides = self._lies.strides
        return strides[axis + len(strides) - len(x.shape)], x.shape[axis], x.strides[axis]

    def _launch(self, aligned: bool) -> _Launch:
        way = _way(self._space, self._rows, self._channels, self._width if aligned else 1, len(self._tensors))
        found = self._launches[aligned] = _Launch(self._space, self._norms, way, self._words)
        return found


@lru_cache(maxsize=1024)
def prepared(space: Space, norms: Norms | NormGradients, shape: Shape) -> Prepared:
    """The norms for tensors of a shape."""
    return Prepared(space, norms, shape)


def normalised(space: Space, norms: Norms, operands: Sequence[DeviceArray]) -> list[DeviceArray]:
    """As `moonxi.norms.WithNorms` says; all lies with the channels last."""
    return prepared(space, norms, operands[0].shape).run(operands)


def normalised_gradients(space: Space, norms: NormGradients, operands: Sequence[DeviceArray]) -> list[DeviceArray]:
    """As `moonxi.norms.WithNorms` says; all lies with the channels last."""
    return prepared(space, norms, operands[len(norms.formula.kinds)].shape).run(operands)


def _kernels(space: Space, norms: Norms | NormGradients, way: _Way) -> Kernels:
    def source() -> str:
        return norm_source.source(norms, space.element, way.lanes, alone=way.alone)

    return Kernels(space.device, source, sources.EXACT)


def _power(count: int) -> int:
    """The smallest power of two that is not less, and at least 1."""
    return 1 << max(0, count - 1).bit_length()
