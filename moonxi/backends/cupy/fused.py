"""Formulas computed by generated kernels: one launch for all members, or as many as their addresses need.

A call is prepared once for operands that look alike: how all lies and where each word of a launch comes from."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from operator import itemgetter, or_
from struct import Struct as Packer
from typing import NamedTuple

from moonxi.backends.cupy import cublas, formula_source, sources
from moonxi.backends.cupy.device import Kernels
from moonxi.backends.cupy.layouts import Plan, Strides, compact, ordered
from moonxi.backends.cupy.memory import DeviceArray, Several, Space
from moonxi.backends.cupy.pending import BY, Pending
from moonxi.formulas import Formula, Kind, Step, Term
from moonxi.traits import Shape

_CHUNK, _WORDS = 512, 500
"""As in kernels/formula.cuh: elements of a chunk, times what a thread takes at a time, and the words of a pack."""
_THREADS = (256, 1)
_WAVE = 4
"""Blocks that a multiprocessor works on at a time: they share the chunks equally."""
_BYTES = 16
"""What a thread reads at a time, where all of it begins at a multiple of that."""
_REMEMBERED = 8
"""Calls of a formula with so many members, the last ones."""

type Look = tuple[list[str | None], list[Shape], list[Strides]]
"""All that a call depends on: of each operand what it is yet to be multiplied by, its sizes and its strides."""


def fused(space: Space, formula: Formula, flat: list[DeviceArray]) -> list[DeviceArray]:
    """The results and sums of each member, of the operands of one after the other; what comes of a member lies as its
    first whole operand without gaps does.

    Operands with four axes are images or weights: if one has its channels last, so have the results, and a weight that
    is updated by the gradient of a convolution is never turned around again."""
    look: Look = [x.written for x in flat], [x.shape for x in flat], [x.strides for x in flat]
    calls = space.calls.setdefault((formula, len(flat)), [])
    for call in calls:
        if call.look == look:
            return call.run(flat)
    call = Call(space, formula, flat, look)
    calls[:] = [call, *calls[: _REMEMBERED - 1]]
    return call.run(flat)


class Call:
    """A formula of members whose operands look so."""

    __slots__ = ("_count", "_each", "_parts", "look")

    def __init__(self, space: Space, formula: Formula, flat: list[DeviceArray], look: Look) -> None:
        self.look = look
        self._count, self._each = len(formula.kinds), len(formula.results) + len(formula.sums)
        members = [flat[first : first + self._count] for first in range(0, len(flat), self._count)]
        groups: dict[tuple[str | None, ...], list[int]] = {}
        for number, operands in enumerate(members):
            groups.setdefault(tuple([x.written for x in operands]), []).append(number)
        self._parts = [
            (numbers, _Part(space, formula, pattern, [members[number] for number in numbers]))
            for pattern, numbers in groups.items()
        ]
        """The members of each pattern of factors, by their numbers."""

    def run(self, flat: list[DeviceArray]) -> list[DeviceArray]:
        """Compute it, of the operands of one member after the other."""
        if len(self._parts) == 1:
            part = self._parts[0][1]
            return part.run(part.factored(flat))
        count, each = self._count, self._each
        # All are taken apart first: a launch computes the factors that it needs, which may be products in another part.
        operands = [
            part.factored([x for number in numbers for x in flat[number * count : (number + 1) * count]])
            for numbers, part in self._parts
        ]
        made: dict[int, list[DeviceArray]] = {}
        for (numbers, part), own in zip(self._parts, operands, strict=True):
            found = part.run(own)
            for at, number in enumerate(numbers):
                made[number] = found[at * each : (at + 1) * each]
        return [one for number in range(len(made)) for one in made[number]]


class _Launch(NamedTuple):
    """What a launch for members whose words go into one pack is given besides addresses."""

    first: int
    """The number of the first member."""
    chunks: list[tuple[int, int]]
    """Of each member the first one, and how many."""
    total: int
    numbers: list[int]
    ordered: Callable[[list[int]], tuple[int, ...]]
    """The words in order, of the addresses of all operands and results, the numbers, and the addresses of the parts."""
    pack: Callable[..., bytes]


class _Part:
    """Members whose operands have yet to be multiplied alike."""

    __slots__ = (
        *("_along", "_by", "_formula", "_kernels", "_launches", "_likes", "_made", "_moved", "_operands"),
        *("_pattern", "_results", "_space", "_sums", "_whole"),
    )

    def __init__(
        self,
        space: Space,
        formula: Formula,
        pattern: tuple[str | None, ...],
        members: Sequence[Sequence[DeviceArray]],
    ) -> None:
        self._pattern = [(place, factor == BY) for place, factor in enumerate(pattern) if factor is not None]
        """Operands that are products yet to be computed, and whether they are by a number on the device."""
        self._space, self._formula = space, _multiplying(formula, pattern) if self._pattern else formula
        kinds, masks = self._formula.kinds, self._formula.masks
        self._by = sum(is_by for _, is_by in self._pattern)
        count = self._operands = len(kinds) - self._by
        whole = [place for place, kind in enumerate(kinds) if kind is Kind.EACH]
        along = [place for place, kind in enumerate(kinds) if kind is Kind.AXIS]
        self._sums = len(self._formula.sums)
        self._results = [space.booleans if self._formula.is_mask(value) else space for value in self._formula.results]
        self._likes: list[Plan] = []
        """How the results of each member lie."""
        self._moved: list[tuple[int, Space, Strides]] = []
        """Operands that have to lie otherwise, by their places among those of all members."""
        self._along: list[list[int]] = []
        for number, operands in enumerate(members):
            like = _order(whole, operands)
            self._likes.append(like)
            for place in whole:
                if operands[place].strides != like.strides:
                    where = space.booleans if masks[place] else space
                    self._moved.append((number * count + place, where, like.strides))
            self._along.append([word for place in along for word in _along(operands[place], like)])
        self._made = [Several(where, self._likes) for where in self._results]
        addresses = [number * count + place for number in range(len(members)) for place in whole]
        made = len(members) * len(kinds)
        results = range(made, made + len(members) * len(self._results))
        self._whole = itemgetter(addresses[0], *addresses, *results)
        """The addresses of all that a thread goes along, of those of operands and results."""
        self._launches: dict[int, tuple[Kernels, list[_Launch]]] = {}
        """By how many elements a thread takes at a time."""

    def run(self, operands: list[DeviceArray]) -> list[DeviceArray]:
        """Results and sums of the members, of `factored` operands."""
        space = self._space
        if self._moved:
            operands = list(operands)
            for place, where, strides in self._moved:
                operands[place] = where.laid(operands[place], strides)
        made = self._memory()
        words = [x.pointer for x in operands]
        for column in made:
            words += [x.pointer for x in column]
        width = _BYTES // space.itemsize
        lanes = width if width > 2 and reduce(or_, self._whole(words)) % _BYTES == 0 else 1
        kernels, launches = self._launches.get(lanes) or self._prepare(lanes)
        totals = space.empty((len(self._likes), self._sums)) if self._sums else None
        for launch in launches:
            self._run(kernels, launch, words, totals)
        if totals is None:
            return made[0] if len(made) == 1 else [one for row in zip(*made, strict=True) for one in row]
        places = range(totals.pointer, totals.pointer + totals.count * space.itemsize, space.itemsize)
        singles = [DeviceArray(totals.owner, pointer, (), (), space.itemsize, 1, True) for pointer in places]
        if not made and self._sums == 1:
            return singles
        columns = [*made, *(singles[number :: self._sums] for number in range(self._sums))]
        return [one for row in zip(*columns, strict=True) for one in row]

    def factored(self, flat: list[DeviceArray]) -> list[DeviceArray]:
        """What is multiplied in the members, and behind all of it those factors that lie on the device."""
        if not self._pattern:
            return flat
        bases, factors = flat.copy(), list[DeviceArray]()
        for start in range(0, len(flat), self._operands):
            for place, is_by in self._pattern:
                x = flat[start + place]
                if isinstance(x, Pending) and x.base is not None:
                    bases[start + place] = x.base
                    if is_by and x.by is not None:
                        factors.append(x.by)
        return bases + factors

    def _memory(self) -> list[list[DeviceArray]]:
        """Memory for each result, one array for each member.

        A recording has memory for what it gives out, and hands it out by size, member by member."""
        if cublas.recording.value is None:
            return [several.made() for several in self._made]
        rows = [[where.planned(like) for where in self._results] for like in self._likes]
        return [list(column) for column in zip(*rows, strict=True)]

    def _prepare(self, lanes: int) -> tuple[Kernels, list[_Launch]]:
        space, key = self._space, (self._formula, lanes)
        kernels = space.formulas.get(key)
        if kernels is None:
            kernels = space.formulas[key] = _kernels(space, self._formula, lanes)
        most = (_WORDS - 2) // (formula_source.width(self._formula) + 1)
        found = kernels, [self._launch(part, _CHUNK * lanes) for part in _parts(len(self._likes), most)]
        self._launches[lanes] = found
        return found

    def _launch(self, part: range, size: int) -> _Launch:
        """For these members, with chunks of this size."""
        members, count, by = len(self._likes), self._operands, self._by
        chunks, total = list[tuple[int, int]](), 0
        for member in part:
            own = -(-self._likes[member].count // size)
            chunks.append((total, own))
            total += own
        made = members * (count + by)
        addresses = made + members * len(self._results)
        numbers = [len(part), total, *(first for first, _ in chunks)]
        order = [addresses + place for place in range(len(numbers))]
        own_words = 1 + len(self._along[part.start])
        parts = addresses + len(numbers) + len(part) * own_words
        for member in part:
            start = addresses + len(numbers)
            numbers += [self._likes[member].count, *self._along[member]]
            order += (start, *range(member * count, (member + 1) * count))
            order += (members * count + member * by + number for number in range(by))
            order += (made + result * members + member for result in range(len(self._results)))
            order += (*range(parts, parts + self._sums), *range(start + 1, start + own_words))
        padded = Packer(f"{len(order)}q{8 * (_WORDS - len(order))}x")
        return _Launch(part.start, chunks, total, numbers, itemgetter(*order), padded.pack)

    def _run(self, kernels: Kernels, launch: _Launch, words: list[int], totals: DeviceArray | None) -> None:
        space, total = self._space, launch.total
        parts = [space.empty((total,), itemsize=space.wide) for _ in range(self._sums)]
        addresses = [one.pointer for one in parts]
        if total:
            packed = launch.pack(*launch.ordered(words + launch.numbers + addresses))
            kernels.launch_blocks("formula", min(total, _WAVE * space.device.processors), _THREADS, packed)
        if totals is None:
            return
        finish: list[int] = []
        to = totals.pointer + launch.first * self._sums * space.itemsize
        for first, count in launch.chunks:
            for address in addresses:
                finish += (address + first * space.wide, count, to)
                to += space.itemsize
        for some in _parts(len(finish) // 3, (_WORDS - 1) // 3):
            numbers = [len(some), *finish[3 * some.start : 3 * some.stop]]
            padded = Packer(f"{len(numbers)}q{8 * (_WORDS - len(numbers))}x")
            kernels.launch_blocks("finish_sums", len(some), _THREADS, padded.pack(*numbers))


def _parts(count: int, most: int) -> Iterator[range]:
    """The numbers up to a count, in parts of so many at most."""
    return (range(first, min(first + most, count)) for first in range(0, count, most))


def _kernels(space: Space, formula: Formula, lanes: int) -> Kernels:
    return Kernels(space.device, lambda: formula_source.source(formula, space.element, lanes), sources.EXACT)


def _order(whole: Sequence[int], operands: Sequence[DeviceArray]) -> Plan:
    """How the operands that have the formula's shape are to lie, and the results do."""
    shape = operands[whole[0]].shape
    dense = [operands[place].strides for place in whole if operands[place].dense]
    if len(shape) == 4:
        last = ordered(shape, (0, 2, 3, 1))
        dense = [strides for strides in dense if strides == last] or dense
    how = compact(shape)
    return Plan(shape, dense[0], how.count, None) if dense else how


def _along(x: DeviceArray, like: Plan) -> tuple[int, int, int]:
    """How an operand goes along one axis: the stride of the axis in the others, its size, the operand's own stride."""
    axis = next((number for number, size in enumerate(x.shape) if size != 1), 0)
    return like.strides[axis + len(like.shape) - len(x.shape)], x.shape[axis], x.strides[axis]


# A product with a number that nobody has asked for yet is computed along.


@lru_cache(maxsize=256)
def _multiplying(formula: Formula, pattern: tuple[str | None, ...]) -> Formula:
    """A formula whose operands of the pattern are multiplied first: by a number, or by an operand added at the end."""
    scaled = [(place, factor) for place, factor in enumerate(pattern) if factor is not None]
    count, added = len(formula.kinds), [place for place, factor in scaled if factor == BY]
    first = count + len(added)
    values = {place: first + number for number, (place, _) in enumerate(scaled)}

    def moved(value: int) -> int:
        return values.get(value, value if value < count else value + len(added) + len(scaled))

    def renumbered(term: Term) -> Term:
        return moved(term) if isinstance(term, int) else term

    steps = [
        Step("__mul__", (place, count + added.index(place) if factor == BY else factor)) for place, factor in scaled
    ]
    steps += [Step(step.operation, tuple(map(renumbered, step.terms))) for step in formula.steps]
    kept, summed = (tuple(map(moved, found)) for found in (formula.results, formula.sums))
    more = len(added)
    return Formula(formula.kinds + (Kind.ONE,) * more, formula.masks + (False,) * more, tuple(steps), kept, summed)
