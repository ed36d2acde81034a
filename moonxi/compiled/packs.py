"""Memory in which tensors of several shapes lie one after the other, and programs that run over all of it at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

    __slots__ = ("_alone", "_held", "flat", "tensors", "views")

    def __init__(self, layout: Layout, tensor: Callable[..., object] | None = None) -> None:
        size = layout.size * layout.dtype.itemsize
        memory = np.empty(size + _ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % _ALIGNMENT
        self.flat: NDArray[np.generic] = memory[start : start + size].view(layout.dtype)
        self.views = layout.views(self.flat)
        self.tensors = [] if tensor is None else [tensor(view) for view in self.views]
        self._held = [memory, *self.views, *self.tensors]  # NumPy lets views of views hold the memory too
        del memory
        self._alone = sum(map(getrefcount, self._held))

    @property
    def is_free(self) -> bool:
        """Whether nobody else holds it, a tensor in it or a view of one."""
        return sum(map(getrefcount, self._held)) <= self._alone


@dataclass(frozen=True, slots=True)
class _Made:
    """Packs for the results of a call. Of what is in them only the packs' own lists are held: holders count."""

    out: tuple[NDArray[np.generic], ...]
    tensors: tuple[list[object], ...]
    brought: tuple[Arrays, ...]
    """What the next call brings, if it goes on from here."""
    flats: tuple[NDArray[np.generic], ...]
    """The arrays of the routine then."""


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
        tensor: Callable[..., object],
    ) -> None:
        self._routine = routine
        self._layout = layout
        self._sources = sources
        self._settled = [False for _ in sources]
        self._first_scalar = 0
        self._tensor = tensor
        self._kept: list[list[Packed]] = [[] for _ in range(results)]
        self._origins: list[int] | None = None
        """For each array that a call brings the result that it was at the call before; None until that is known."""
        self._known: dict[tuple[Packed, ...], _Made] = {}
        self._last: _Made | None = None

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
        last = self._last
        if last is None or not all(map(is_, chain.from_iterable(last.brought), values)):
            return self._called(values)
        self._last = made = self._made()
        self._routine(*last.flats, *values[self._first_scalar :], out=made.out)
        return chain.from_iterable(made.tensors)

    def _called(self, values: Sequence[NDArray[np.generic]]) -> "chain[object]":
        """The same where it is not known in which packs the values are."""
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
        self._first_scalar = start
        self._learn(packed)
        made = self._made()
        if None not in packed:
            self._routine(*[one.flat for one in packed if one is not None], *values[start:], out=made.out)
        else:
            for n, (part, order) in enumerate(zip(self._layout.parts, self._layout.orders, strict=True)):
                arrays = [_flat(mine[n], order) for mine in slots]
                self._routine(*arrays, *values[start:], out=tuple([one[part] for one in made.out]))
        self._last = None if self._origins is None else made
        return chain.from_iterable(made.tensors)

    def _learn(self, packed: Sequence[Packed | None]) -> None:
        """Note of which results the arrays are that a call brings, if all are."""
        places = {id(one): place for place, kept in enumerate(self._kept) for one in kept}
        brought = [one for one, settled in zip(packed, self._settled, strict=True) if not settled]
        origins = [places.get(id(one), -1) for one in brought]
        if -1 not in origins and origins != self._origins:
            self._origins = origins
            self._known.clear()

    def _packed(self, arrays: Arrays, source: Packed | None) -> Packed | None:
        """The pack that has the arrays, if there is one."""
        if source is not None:
            for view, array in zip(source.views, arrays, strict=True):
                if view is not array and not np.shares_memory(view, array):
                    np.copyto(view, array)
            return source
        for kept in self._kept:
            for one in kept:
                if all(map(is_, one.views, arrays)):
                    return one
        return None

    def _made(self) -> _Made:
        """Packs for the results that nobody holds."""
        packs = tuple([self._free(kept) for kept in self._kept])
        known = self._known.get(packs)
        if known is not None:
            return known
        origins = iter(self._origins or ())
        sources = [
            source if source is not None and settled else packs[next(origins, 0)]
            for source, settled in zip(self._sources, self._settled, strict=True)
        ]
        made = self._known[packs] = _Made(
            tuple([one.flat for one in packs]),
            tuple([one.tensors for one in packs]),
            tuple([one.views for one, settled in zip(sources, self._settled, strict=True) if not settled]),
            tuple([one.flat for one in sources]),
        )
        return made

    def _free(self, kept: list[Packed]) -> Packed:
        """A pack that nobody holds; the one that was used last stands last."""
        for place, one in enumerate(kept):
            if one.is_free:
                kept.append(kept.pop(place))
                return one
        made = Packed(self._layout, self._tensor)
        kept.append(made)
        if len(kept) > _MOST:
            del kept[0]
        self._known.clear()
        return made


def _flat(array: NDArray[np.generic], order: Order | None) -> NDArray[np.generic]:
    """The elements in the order of memory, without a copy where they lie so."""
    return (array if order is None else array.transpose(order)).reshape(-1)
