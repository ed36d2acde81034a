"""Random numbers of a key, bit for bit as every other backend makes them (normal ones up to rounding)."""

from dataclasses import dataclass
from math import prod
from typing import override

import numpy as np

from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.dtypes import F64
from moonxi.errors import CompileError
from moonxi.key import Key
from moonxi.traits import Shape


@dataclass(frozen=True, slots=True)
class StoredKey(Key):
    """A key whose words a kernel reads at an address, where a recording puts other ones for each run."""

    pointer: int = 0

    @override
    def fold(self, data: int | str, /) -> Key:
        """Raises `CompileError`: a recording is given keys that are folded already."""
        raise CompileError(f"fold({data!r}): a key of a recording is not known on the host")


def uniform(space: Space, shape: Shape, key: Key) -> DeviceArray:
    """Uniform in [0, 1): from as many upper bits of a half word (F64: of a word) as the element type holds below 1.

    These are 53 in F64, 24 in F32, 11 in F16 and 8 in BF16."""
    return _made(space, "uniform", shape, key, 4 if space.element is F64 else 8)


def normal(space: Space, shape: Shape, key: Key) -> DeviceArray:
    """Standard normal by Box and Muller, computed in double precision: see `moonxi.backends.numpy.random`."""
    return _made(space, "normal", shape, key, 4)


def _made(space: Space, name: str, shape: Shape, key: Key, block: int) -> DeviceArray:
    out = space.empty(shape)
    count = prod(shape)
    blocks = -(-count // block)
    words = np.uint64(key.low), np.uint64(key.high)
    space.random.launch(name, blocks, out.pointer, getattr(key, "pointer", 0), *words, blocks, count)
    return out
