"""Formulas computed by generated kernels: one launch for all members, or as many as their addresses need."""

from collections.abc import Sequence
from functools import lru_cache
from struct import pack
from typing import NamedTuple

from moonxi.backends.cupy import cublas, formula_source, sources
from moonxi.backends.cupy.device import Kernels
from moonxi.backends.cupy.layouts import Strides, ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.pending import BY, Pending
from moonxi.formulas import Formula, Kind, Step, Term

_CHUNK, _WORDS = 512, 500
"""As in kernels/formula.cuh: elements of a chunk, times what a thread takes at a time, and the words of a pack."""
_THREADS = (256, 1)
_WAVE = 4
"""Blocks that a multiprocessor works on at a time: they share the chunks equally."""
_BYTES = 16
"""What a thread reads at a time, where all of it begins at a multiple of that."""


class _Facts(NamedTuple):
    """What is known of a formula without its operands."""

    whole: tuple[int, ...]
    """The places of the operands that have its shape."""
    axes: tuple[int, ...]
    """The places of those that go along one axis."""
    spaces: tuple[Space, ...]
    """Where each operand lives."""
    results: tuple[Space, ...]
    """Where each result does."""
    most: int
    """Members whose words go into one pack."""


@lru_cache(maxsize=512)
def _facts(space: Space, formula: Formula) -> _Facts:
    return _Facts(
        tuple(place for place, kind in enumerate(formula.kinds) if kind is Kind.EACH),
        tuple(place for place, kind in enumerate(formula.kinds) if kind is Kind.AXIS),
        tuple(space.booleans if is_mask else space for is_mask in formula.masks),
        tuple(space.booleans if formula.is_mask(value) else space for value in formula.results),
        (_WORDS - 2) // (formula_source.width(formula) + 1),
    )


def fused(space: Space, formula: Formula, members: Sequence[Sequence[DeviceArray]]) -> list[DeviceArray]:
    """The results and sums of each member; they lie as its first whole operand without gaps does.

    Operands with four axes are images or weights: if one has its channels last, so have the results, and a weight that
    is updated by the gradient of a convolution is never turned around again."""
    groups: dict[tuple[str | None, ...], list[int]] = {}
    for number, operands in enumerate(members):
        groups.setdefault(tuple([x.written for x in operands]), []).append(number)
    each = len(formula.results) + len(formula.sums)
    made: list[DeviceArray | None] = [None] * (each * len(members))
    for pattern, numbers in groups.items():
        own, given = formula, members if len(groups) == 1 else [members[number] for number in numbers]
        if any(pattern):
            own, given = _multiplying(formula, pattern), _factored(given, pattern)
        found = _fused(space, own, given)
        if len(groups) == 1:
            return found
        for at, number in enumerate(numbers):
            made[number * each : (number + 1) * each] = found[at * each : (at + 1) * each]
    return [one for one in made if one is not None]


def _fused(space: Space, formula: Formula, members: Sequence[Sequence[DeviceArray]]) -> list[DeviceArray]:
    """Of operands that are all computed."""
    whole, axes, spaces, results, most = _facts(space, formula)
    laid = [_laid(spaces, whole, given) for given in members]  # held until the launch
    first = whole[0]
    likes = [operands[first] for operands in laid]
    made = _new(results, likes)
    words = [[x.pointer for x in operands] for operands in laid]
    addresses = 0
    for own in words:
        for place in whole:
            addresses |= own[place]
    for column in made:
        for own, result in zip(words, column, strict=True):
            addresses |= result.pointer
            own.append(result.pointer)
    width = _BYTES // space.itemsize
    lanes = width if width > 2 and addresses % _BYTES == 0 else 1
    kernels = space.formulas.get((formula, lanes))
    if kernels is None:
        kernels = space.formulas[formula, lanes] = _kernels(space, formula, lanes)
    sums = len(formula.sums)
    totals = space.empty((len(members), sums)) if sums else None
    along = [[word for place in axes for word in _along(operands[place], operands[first])] for operands in laid]
    counts = [like.count for like in likes]
    for start in range(0, len(laid), most):
        some = slice(start, start + most)
        _launch(space, kernels, _CHUNK * lanes, counts[some], words[some], along[some], totals, start)
    if totals is None:
        return made[0] if len(made) == 1 else [one for row in zip(*made, strict=True) for one in row]
    places = range(totals.pointer, totals.pointer + totals.count * space.itemsize, space.itemsize)
    singles = [DeviceArray(totals.owner, pointer, (), (), space.itemsize, 1, True) for pointer in places]
    if not made and sums == 1:
        return singles
    columns = [*made, *(singles[number::sums] for number in range(sums))]
    return [one for row in zip(*columns, strict=True) for one in row]


def _new(results: Sequence[Space], likes: Sequence[DeviceArray]) -> list[list[DeviceArray]]:
    """Memory for each result, one array for each member.

    A recording has memory for what it gives out, and hands it out by size, member by member."""
    if cublas.recording.value is None:
        return [where.likes(likes) for where in results]
    rows = [[where.like(like) for where in results] for like in likes]
    return [list(column) for column in zip(*rows, strict=True)]


def _kernels(space: Space, formula: Formula, lanes: int) -> Kernels:
    return Kernels(space.device, lambda: formula_source.source(formula, space.element, lanes), sources.EXACT)


def _laid(spaces: Sequence[Space], whole: Sequence[int], operands: Sequence[DeviceArray]) -> Sequence[DeviceArray]:
    """The operands, of which those of the formula's shape lie together in one order."""
    first = operands[whole[0]]
    strides = first.strides
    if first.dense:
        for place in whole:
            if operands[place].strides != strides:
                break
        else:
            return operands
    place, strides = _order(whole, operands)
    dense = spaces[place].dense(operands[place])
    strides = dense.strides
    moved = list(operands)
    for at in whole:
        moved[at] = dense if at == place else spaces[at].laid(operands[at], strides)
    return moved


def _order(whole: Sequence[int], operands: Sequence[DeviceArray]) -> tuple[int, Strides]:
    """The operand as which the others are to lie."""
    without_gaps = [place for place in whole if operands[place].dense]
    if len(operands[whole[0]].shape) == 4:
        last = ordered(operands[whole[0]].shape, (0, 2, 3, 1))
        without_gaps = [place for place in without_gaps if operands[place].strides == last] or without_gaps
    place = without_gaps[0] if without_gaps else whole[0]
    return place, operands[place].strides


def _along(x: DeviceArray, like: DeviceArray) -> tuple[int, int, int]:
    """How an operand goes along one axis: the stride of the axis in the others, its size, the operand's own stride."""
    axis = next((number for number, size in enumerate(x.shape) if size != 1), 0)
    return like.strides[axis + len(like.shape) - len(x.shape)], x.shape[axis], x.strides[axis]


def _launch(
    space: Space,
    kernels: Kernels,
    size: int,
    counts: Sequence[int],
    words: Sequence[Sequence[int]],
    along: Sequence[Sequence[int]],
    totals: DeviceArray | None,
    number: int,
) -> None:
    """Compute members whose words go into one pack: the elements of each, its addresses, and how its axes lie.

    ``size`` is that of a chunk, ``number`` that of the first member."""
    sums = 0 if totals is None else totals.shape[1]
    firsts, chunks = list[int](), 0
    for count in counts:
        firsts.append(chunks)
        chunks += (count + size - 1) // size
    parts = [space.empty((chunks,), itemsize=space.wide) for _ in range(sums)]
    addresses = [one.pointer for one in parts]
    numbers = [len(counts), chunks, *firsts]
    for count, own, axes in zip(counts, words, along, strict=True):
        numbers.append(count)
        numbers += own
        numbers += addresses
        numbers += axes
    if chunks:
        kernels.launch_blocks("formula", min(chunks, _WAVE * space.device.processors), _THREADS, _pack(numbers))
    if totals is None:
        return
    finish: list[list[int]] = []
    for n, (count, first) in enumerate(zip(counts, firsts, strict=True)):
        for at, address in enumerate(addresses):
            total = totals.pointer + ((number + n) * sums + at) * space.itemsize
            finish.append([address + first * space.wide, (count + size - 1) // size, total])
    most = (_WORDS - 1) // 3
    for start in range(0, len(finish), most):
        some = finish[start : start + most]
        numbers = [len(some), *(word for three in some for word in three)]
        kernels.launch_blocks("finish_sums", len(some), _THREADS, _pack(numbers))


def _pack(words: list[int]) -> bytes:
    return pack(f"{len(words)}q", *words).ljust(8 * _WORDS, b"\0")


# A product with a number that nobody has asked for yet is computed along.


def _factored(
    members: Sequence[Sequence[DeviceArray]], pattern: tuple[str | None, ...]
) -> Sequence[Sequence[DeviceArray]]:
    """What is multiplied in each member, and behind it those factors that lie on the device."""
    places = [place for place, factor in enumerate(pattern) if factor is not None]
    found: list[list[DeviceArray]] = []
    for operands in members:
        bases = list(operands)
        for place in places:
            x = operands[place]
            if isinstance(x, Pending) and x.base is not None:
                bases[place] = x.base
                if x.by is not None:
                    bases.append(x.by)
        found.append(bases)
    return found


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
