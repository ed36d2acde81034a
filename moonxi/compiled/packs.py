"""Memory in which tensors of several shapes lie one after the other, and programs that run over all of it at once."""

from collections.abc import Callable, Sequence
from itertools import chain
from math import prod
from operator import is_
from sys import getrefcount
from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi.compiled.graph import Spec
from moonxi.compiled.memory import Order, ordered
from moonxi.traits.kernels import Routine

type Arrays = Sequence[NDArray[np.generic]]

_MOST: Final = 3
"""Packs that are kept for a result, as in `moonxi.compiled.results`."""

_ALIGNMENT: Final = 64


class Layout:
    """Where each of several tensors lies in a pack."""

    def __init__(self, specs: Sequence[Spec], orders: Sequence[Order | None]) -> None:
        assert specs[0].dtype is not None, "keys need no memory"
        self.dtype: np.dtype[np.generic] = np.dtype(specs[0].dtype.type)
        self.orders = orders
        self._shapes = [spec.shape for spec in specs]
        self.parts: list[slice] = []
        self.size = 0
        for shape in self._shapes:
            self.parts.append(slice(self.size, self.size + prod(shape)))
            self.size += prod(shape)

    def new(self) -> "Packed":
        """A pack of any content."""
        return Packed(self)

    def views(self, flat: NDArray[np.generic]) -> list[NDArray[np.generic]]:
        """The tensors in a pack."""
        parts = zip(self.parts, self._shapes, self.orders, strict=True)
        return [ordered(flat[part], shape, order) for part, shape, order in parts]


class Packed:
    """A pack, with the arrays in it and, where it is for results, their tensors."""

    __slots__ = ("_memory", "alone", "flat", "tensors", "views")

    def __init__(self, layout: Layout, tensor: Callable[..., object] | None = None) -> None:
        size = layout.size * layout.dtype.itemsize
        self._memory = np.empty(size + _ALIGNMENT, np.uint8)
        start = -self._memory.ctypes.data % _ALIGNMENT
        self.flat: NDArray[np.generic] = self._memory[start : start + size].view(layout.dtype)
        self.views = layout.views(self.flat)
        self.tensors = [] if tensor is None else [tensor(view) for view in self.views]
        self.alone = self._holders()

    def _holders(self) -> int:
        """How many hold the memory, the arrays or the tensors, the pack itself among them. NumPy lets views of views
        hold the memory too."""
        return getrefcount(self._memory) + sum(map(getrefcount, self.views)) + sum(map(getrefcount, self.tensors))

    @property
    def is_free(self) -> bool:
        """Whether nobody else holds it, a tensor in it or a view of one."""
        return self._holders() <= self.alone


class PackedProgram:
    """A program that runs over packs, or over one tensor after the other as long as these come from elsewhere.

    Arrays of a program are either arguments, which are packed once they are results of the program before, or
    intermediate results, which have a pack of the plan's."""

    def __init__(
        self,
        routine: Routine,
        layout: Layout,
        sources: Sequence[Packed | None],
        results: int,
        scalars: int,
        tensor: Callable[..., object],
    ) -> None:
        self._routine = routine
        self._layout = layout
        self._sources = sources
        self._settled = [False for _ in sources]
        self._scalars = scalars
        self._tensor = tensor
        self._kept: list[list[Packed]] = [[] for _ in range(results)]

    def settle(self, values: Sequence[NDArray[np.generic] | None]) -> list[int]:
        """The places of the values that a call has to bring. The others are known, and lie where they are packed."""
        count = len(self._layout.parts)
        for n, source in enumerate(self._sources):
            mine = values[n * count : (n + 1) * count]
            self._settled[n] = source is not None and all(
                array is not None and (view is array or np.shares_memory(view, array))
                for view, array in zip(source.views, mine, strict=True)
            )
        slots = len(self._sources) * count
        return [place for place in range(len(values)) if place >= slots or not self._settled[place // count]]

    def __call__(self, *values: NDArray[np.generic]) -> "chain[object]":
        """The tensors of the results, each for all times; the values are all of each array, and then the scalars."""
        count, start = len(self._layout.parts), 0
        slots: list[Arrays] = []
        packed: list[Packed | None] = []
        for source, settled in zip(self._sources, self._settled, strict=True):
            if source is not None and settled:
                slots.append(source.views)
                packed.append(source)
                continue
            mine = values[start : start + count]
            start += count
            slots.append(mine)
            packed.append(self._packed(mine, source))
        scalars = values[start:]
        made = [self._new(kept) for kept in self._kept]
        if None not in packed:
            flats = [one.flat for one in packed if one is not None]
            self._routine(*flats, *scalars, out=tuple([one.flat for one in made]))
        else:
            for n, (part, order) in enumerate(zip(self._layout.parts, self._layout.orders, strict=True)):
                arrays = [_flat(mine[n], order) for mine in slots]
                self._routine(*arrays, *scalars, out=tuple(one.flat[part] for one in made))
        return chain.from_iterable([one.tensors for one in made])

    def _packed(self, arrays: Arrays, source: Packed | None) -> Packed | None:
        """The pack that has the arrays, if there is one."""
        if source is not None:
            for view, array in zip(source.views, arrays, strict=True):
                if view is not array and not np.shares_memory(view, array):
                    np.copyto(view, array)
            return source
        first = arrays[0]
        for kept in self._kept:
            for one in reversed(kept):
                if one.views[0] is first and all(map(is_, one.views, arrays)):
                    return one
        return None

    def _new(self, kept: list[Packed]) -> Packed:
        """A pack that nobody holds; the one that was used last stands last."""
        place = next((place for place, one in enumerate(kept) if one.is_free), None)
        made = Packed(self._layout, self._tensor) if place is None else kept.pop(place)
        kept.append(made)
        if len(kept) > _MOST:
            del kept[0]
        return made


def _flat(array: NDArray[np.generic], order: Order | None) -> NDArray[np.generic]:
    """The elements in the order of memory, without a copy where they lie so."""
    return (array if order is None else array.transpose(order)).reshape(-1)
