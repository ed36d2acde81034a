"""Formulas computed by generated kernels: one launch for all members, or as many as their addresses need."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from moonxi.backends.cupy import formula_source, sources
from moonxi.backends.cupy.device import Kernels
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.formulas import Formula, Kind

_CHUNK, _WORDS = 1024, 500
"""As in kernels/formula.cuh: the elements that a block takes at a time, and the words of a pack."""
_THREADS = (256, 1)


class _Member(NamedTuple):
    """What a member has given and gets."""

    elements: int
    words: list[int]
    """Its count, and the addresses of operands and results."""
    axes: list[int]
    sums: list[DeviceArray]
    held: list[DeviceArray]
    """What has to live until the launch."""

    @property
    def chunks(self) -> int:
        return -(-self.elements // _CHUNK)


def fused(space: Space, formula: Formula, members: Sequence[Sequence[DeviceArray]]) -> list[DeviceArray]:
    """The results and sums of each member; they lie as its first whole operand without gaps does."""
    found: list[DeviceArray] = []
    prepared: list[_Member] = []
    for operands in members:
        member, made = _prepared(space, formula, operands)
        prepared.append(member)
        found += made
    kernels = space.formulas.get(formula)
    if kernels is None:
        kernels = space.formulas[formula] = _kernels(space, formula)
    most = (_WORDS - 2) // (formula_source.width(formula) + 1)
    for first in range(0, len(prepared), most):
        _launch(space, kernels, formula, prepared[first : first + most])
    return found


def _kernels(space: Space, formula: Formula) -> Kernels:
    return Kernels(space.device, lambda: formula_source.source(formula, space.element), sources.EXACT)


def _prepared(space: Space, formula: Formula, operands: Sequence[DeviceArray]) -> tuple[_Member, list[DeviceArray]]:
    spaces = [space.booleans if is_mask else space for is_mask in formula.masks]
    whole = [place for place, kind in enumerate(formula.kinds) if kind is Kind.EACH]
    place = next((place for place in whole if operands[place].dense), whole[0])
    like = spaces[place].dense(operands[place])
    words, axes, held = [like.count], [], [like]
    for kind, own, x in zip(formula.kinds, spaces, operands, strict=True):
        if kind is Kind.EACH:
            x = own.laid(x, like.strides)
        elif kind is Kind.AXIS:
            axis = next((number for number, size in enumerate(x.shape) if size != 1), 0)
            of_all = axis + len(like.shape) - len(x.shape)
            axes += [like.strides[of_all], x.shape[axis], x.strides[axis]]
        words.append(x.pointer)
        held.append(x)
    made = [(space.booleans if formula.is_mask(value) else space).like(like) for value in formula.results]
    words += [one.pointer for one in made]
    sums = [space.empty(()) for _ in formula.sums]
    return _Member(like.count, words, axes, sums, held), [*made, *sums]


def _launch(space: Space, kernels: Kernels, formula: Formula, members: Sequence[_Member]) -> None:
    """Compute members whose addresses go into one pack."""
    firsts = np.cumsum([0, *(member.chunks for member in members)]).tolist()
    chunks = firsts[-1]
    parts = [space.empty((chunks,), itemsize=space.wide) for _ in formula.sums]
    words = [len(members), chunks, *firsts[:-1]]
    for member in members:
        words += [*member.words, *(one.pointer for one in parts), *member.axes]
    if chunks:
        kernels.launch_blocks("formula", min(chunks, space.device.most_blocks), _THREADS, _pack(words))
    finish = [
        [part.pointer + first * space.wide, member.chunks, total.pointer]
        for member, first in zip(members, firsts[:-1], strict=True)
        for part, total in zip(parts, member.sums, strict=True)
    ]
    most = (_WORDS - 1) // 3
    for first in range(0, len(finish), most):
        some = finish[first : first + most]
        pack = _pack([len(some), *(word for three in some for word in three)])
        kernels.launch_blocks("finish_sums", len(some), _THREADS, pack)


def _pack(words: list[int]) -> bytes:
    pack = np.zeros(_WORDS, np.int64)
    pack[: len(words)] = words
    return pack.tobytes()
