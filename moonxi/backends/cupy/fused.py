"""Formulas computed by generated kernels: one launch for all members, or as many as their addresses need."""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from moonxi.backends.cupy import formula_source, sources
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


class _Member(NamedTuple):
    """What a member has given and gets."""

    words: list[int]
    """Its count, and the addresses of operands and results."""
    axes: list[int]
    held: Sequence[DeviceArray]
    """What has to live until the launch."""


def fused(space: Space, formula: Formula, members: Sequence[Sequence[DeviceArray]]) -> list[DeviceArray]:
    """The results and sums of each member; they lie as its first whole operand without gaps does.

    Operands with four axes are images or weights: if one has its channels last, so have the results, and a weight that
    is updated by the gradient of a convolution is never turned around again."""
    groups: dict[tuple[str | None, ...], list[int]] = {}
    for number, operands in enumerate(members):
        pattern = tuple([x.written if isinstance(x, Pending) else None for x in operands])
        groups.setdefault(pattern, []).append(number)
    each = len(formula.results) + len(formula.sums)
    made: list[DeviceArray | None] = [None] * (each * len(members))
    for pattern, numbers in groups.items():
        own, given = formula, [members[number] for number in numbers]
        if any(pattern):
            own, given = _multiplying(formula, pattern), [_factored(operands, pattern) for operands in given]
        found = _fused(space, own, given)
        if len(groups) == 1:
            return found
        for at, number in enumerate(numbers):
            made[number * each : (number + 1) * each] = found[at * each : (at + 1) * each]
    return [one for one in made if one is not None]


def _fused(space: Space, formula: Formula, members: Sequence[Sequence[DeviceArray]]) -> list[DeviceArray]:
    """Of operands that are all computed."""
    whole = [place for place, kind in enumerate(formula.kinds) if kind is Kind.EACH]
    spaces = [space.booleans if is_mask else space for is_mask in formula.masks]
    axes = [place for place, kind in enumerate(formula.kinds) if kind is Kind.AXIS]
    result_spaces = [space.booleans if formula.is_mask(value) else space for value in formula.results]
    found: list[DeviceArray] = []
    prepared: list[_Member] = []
    addresses = 0
    for given in members:
        operands = _laid(spaces, whole, given)
        like = operands[whole[0]]
        made = [where.like(like) for where in result_spaces]
        words = [like.count, *[x.pointer for x in operands], *[x.pointer for x in made]]
        for place in whole:
            addresses |= words[1 + place]
        for one in made:
            addresses |= one.pointer
        along = [word for place in axes for word in _along(operands[place], like)]
        prepared.append(_Member(words, along, operands))
        found += made
    width = _BYTES // space.itemsize
    lanes = width if width > 2 and addresses % _BYTES == 0 else 1
    kernels = space.formulas.get((formula, lanes))
    if kernels is None:
        kernels = space.formulas[formula, lanes] = _kernels(space, formula, lanes)
    sums = len(formula.sums)
    totals = space.empty((len(members), sums)) if sums else None
    most = (_WORDS - 2) // (formula_source.width(formula) + 1)
    for first in range(0, len(prepared), most):
        _launch(space, kernels, _CHUNK * lanes, prepared[first : first + most], totals, first)
    if totals is None:
        return found
    results, own = len(result_spaces), iter(found)
    return [
        next(own) if at < results else totals.view((), (), number * sums + at - results)
        for number in range(len(members))
        for at in range(results + sums)
    ]


def _kernels(space: Space, formula: Formula, lanes: int) -> Kernels:
    return Kernels(space.device, lambda: formula_source.source(formula, space.element, lanes), sources.EXACT)


def _laid(spaces: list[Space], whole: list[int], operands: Sequence[DeviceArray]) -> Sequence[DeviceArray]:
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


def _order(whole: list[int], operands: Sequence[DeviceArray]) -> tuple[int, Strides]:
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
    space: Space, kernels: Kernels, size: int, members: Sequence[_Member], totals: DeviceArray | None, number: int
) -> None:
    """Compute members whose addresses go into one pack; ``size`` is that of a chunk, ``number`` that of the first."""
    sums = 0 if totals is None else totals.shape[1]
    firsts, chunks = list[int](), 0
    for member in members:
        firsts.append(chunks)
        chunks += -(-member.words[0] // size)
    parts = [space.empty((chunks,), itemsize=space.wide) for _ in range(sums)]
    words = [len(members), chunks, *firsts]
    for member in members:
        words += member.words
        words += [one.pointer for one in parts]
        words += member.axes
    if chunks:
        kernels.launch_blocks("formula", min(chunks, _WAVE * space.device.processors), _THREADS, _pack(words))
    if totals is None:
        return
    finish: list[list[int]] = []
    for n, (member, first) in enumerate(zip(members, firsts, strict=True)):
        for at, part in enumerate(parts):
            total = totals.pointer + ((number + n) * sums + at) * space.itemsize
            finish.append([part.pointer + first * space.wide, -(-member.words[0] // size), total])
    most = (_WORDS - 1) // 3
    for start in range(0, len(finish), most):
        some = finish[start : start + most]
        pack = _pack([len(some), *(word for three in some for word in three)])
        kernels.launch_blocks("finish_sums", len(some), _THREADS, pack)


def _pack(words: list[int]) -> bytes:
    return array("q", words).tobytes().ljust(8 * _WORDS, b"\0")


# A product with a number that nobody has asked for yet is computed along.


def _factored(operands: Sequence[DeviceArray], pattern: tuple[str | None, ...]) -> Sequence[DeviceArray]:
    """What is multiplied, and behind it those factors that lie on the device."""
    bases, factors = list(operands), list[DeviceArray]()
    for place, x in enumerate(operands):
        if isinstance(x, Pending) and pattern[place] is not None and x.base is not None:
            bases[place] = x.base
            if x.by is not None:
                factors.append(x.by)
    return [*bases, *factors]


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
