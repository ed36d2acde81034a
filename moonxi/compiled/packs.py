"""Memory in which tensors of several shapes lie one after the other, and programs that run over all of it at once."""

import sys
from collections.abc import Sequence
from itertools import chain
from math import prod
from operator import is_
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
    """A pack, with the tensors in it."""

    __slots__ = ("_memory", "alone", "flat", "views")

    def __init__(self, layout: Layout) -> None:
        size = layout.size * layout.dtype.itemsize
        self._memory = np.empty(size + _ALIGNMENT, np.uint8)
        start = -self._memory.ctypes.data % _ALIGNMENT
        self.flat: NDArray[np.generic] = self._memory[start : start + size].view(layout.dtype)
        self.views = layout.views(self.flat)
        self.alone = self._holders()

    def _holders(self) -> int:
        """How many hold the memory: the pack itself, its views, and views of those, which NumPy lets hold it too."""
        return sys.getrefcount(self._memory)

    @property
    def is_free(self) -> bool:
        """Whether nobody else holds it, a tensor in it or a view of one."""
        return self._holders() <= self.alone and not _any_held(self.views, _UNHELD)


def _any_held(views: list[NDArray[np.generic]], unheld: int) -> bool:
    return any(sys.getrefcount(view) > unheld for view in views)  # how this is written decides what is counted


_UNHELD: Final = next(count for count in range(1, 10) if not _any_held([np.empty(0)], count))
"""What is counted there for an array that only the list holds, which differs between versions of Python."""


class PackedProgram:
    """A program that runs over packs, or over one tensor after the other as long as these come from elsewhere.

    Arrays of a program are either arguments, which are packed once they are results of the program before, or
    intermediate results, which have a pack of the plan's."""

    def __init__(
        self, routine: Routine, layout: Layout, sources: Sequence[Packed | None], results: int, scalars: int
    ) -> None:
        self._routine = routine
        self._layout = layout
        self._sources = sources
        self._scalars = scalars
        self._kept: list[list[Packed]] = [[] for _ in range(results)]
        self._inside: dict[int, Arrays] = {}

    def __call__(self, *values: NDArray[np.generic]) -> "chain[NDArray[np.generic]]":
        """The results, each for all tensors; the values are all tensors of each array, and then the scalars."""
        count = len(self._layout.parts)
        scalars = values[len(values) - self._scalars :]
        slots = [values[n * count : (n + 1) * count] for n in range(len(self._sources))]
        packed = [self._packed(mine, source) for mine, source in zip(slots, self._sources, strict=True)]
        made = [self._new(kept) for kept in self._kept]
        if None not in packed:
            flats = [one.flat for one in packed if one is not None]
            self._routine(*flats, *scalars, out=tuple(one.flat for one in made))
        else:
            for n, (part, order) in enumerate(zip(self._layout.parts, self._layout.orders, strict=True)):
                arrays = [_flat(mine[n], order) for mine in slots]
                self._routine(*arrays, *scalars, out=tuple(one.flat[part] for one in made))
        return chain.from_iterable(one.views for one in made)

    def _packed(self, arrays: Arrays, source: Packed | None) -> Packed | None:
        """The pack that has the arrays, if there is one."""
        if source is not None:
            known = self._inside.get(id(source))
            if known is None or not all(map(is_, known, arrays)):
                self._copy(arrays, source)
            return source
        for kept in self._kept:
            for one in kept:
                if all(map(is_, one.views, arrays)):
                    return one
        return None

    def _copy(self, arrays: Arrays, source: Packed) -> None:
        """Put the arrays into their pack. Where all of them are in it anyway, none needs to be looked at again."""
        outside = [
            (view, array)
            for view, array in zip(source.views, arrays, strict=True)
            if view is not array and not np.shares_memory(view, array)
        ]
        for view, array in outside:
            np.copyto(view, array)
        if not outside:
            self._inside[id(source)] = arrays

    def _new(self, kept: list[Packed]) -> Packed:
        """A pack that nobody holds."""
        for one in kept:
            if one.is_free:
                return one
        made = self._layout.new()
        kept.append(made)
        if len(kept) > _MOST:
            del kept[0]
        return made


def _flat(array: NDArray[np.generic], order: Order | None) -> NDArray[np.generic]:
    """The elements in the order of memory, without a copy where they lie so."""
    return (array if order is None else array.transpose(order)).reshape(-1)
