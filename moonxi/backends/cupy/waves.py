"""Waves run by generated kernels, one launch each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from moonxi.backends.cupy import sources
from moonxi.backends.cupy.device import Kernels
from moonxi.backends.cupy.layouts import Strides
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.wave_elements import THREADS
from moonxi.backends.cupy.wave_source import WaveSource, wave_source
from moonxi.waves import Holds, Waves, addresses


class Compiled(NamedTuple):
    """The kernels for operands that lie in one way."""

    kernels: Kernels
    source: WaveSource


def run(space: Space, waves: Waves, operands: Sequence[DeviceArray]) -> list[DeviceArray]:
    """The results, which lie in order of rows."""
    operands = [space.compact(x) if min(x.strides, default=0) < 0 else x for x in operands]
    compiled = _compiled(space, waves, tuple(x.strides for x in operands))
    source = compiled.source
    arrays = dict(enumerate(operands))
    kept = {
        number for wave in waves.waves for number in (*wave.kept, *(one for task in wave.tasks for one in task.kept))
    }
    for number in (*waves.results, *sorted(kept.difference(waves.results))):  # results first: see `CudaRecording`
        value = waves.values[number]
        arrays[number] = (space.booleans if value.holds is Holds.MASK else space).empty(value.shape)
    reads_labels = any(value.holds is Holds.LABELS for value in waves.values)
    fault = space.device.fault if reads_labels else 0
    before = space.empty((), itemsize=space.wide)
    for place, blocks in enumerate(source.blocks):
        parts = space.empty((source.parts[place],), itemsize=space.wide)
        words = [arrays[number].pointer for number in addresses(waves, place)]
        words += [fault, parts.pointer, before.pointer]
        pack = np.zeros(source.words, np.int64)
        pack[: len(words) - 3] = words[:-3]
        pack[len(words) - 3 : len(words)] = words[-3:]
        compiled.kernels.launch_blocks(f"wave{place}", blocks, (THREADS, 1), pack.tobytes())
        before = parts
    return [arrays[number] for number in waves.results]


def _compiled(space: Space, waves: Waves, strides: tuple[Strides, ...]) -> Compiled:
    key = (waves, strides)
    found = space.waves.get(key)
    if found is None:
        made = wave_source(waves, strides, space.element, space.device.processors)
        kernels = Kernels(space.device, lambda: made.text, sources.EXACT)
        found = space.waves[key] = Compiled(kernels, made)
    return found
