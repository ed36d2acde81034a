"""The rules of contractions: which axes of the operands are one, which are summed over, and what remains."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from moonxi.dims import Size, provably_equal
from moonxi.errors import OptionError
from moonxi.shapes.agreement import differ
from moonxi.shapes.arrays import Sizes, axes, broadcast, fail, show

_TERM = re.compile(r"([A-Za-z]*)(\.\.\.)?([A-Za-z]*)")

REPEATED = ""
"""The label of an axis of size 1 that is repeated along those of other operands."""


@dataclass(frozen=True, slots=True)
class Contraction:
    """A label for each axis: axes of one label run together, and those that the result has not are summed over."""

    operands: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]
    sizes: Mapping[str, Size]

    @property
    def shape(self) -> Sizes:
        """That of the result."""
        return tuple(self.sizes[label] for label in self.result)


def einsum(equation: str, *operands: Sizes) -> Contraction:
    """``ij,jk->ik``: a letter for each axis, ``...`` for any more, which broadcast.

    Without ``->`` the result has what the dots stand for, and then the letters that are there once, in order of the
    alphabet."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = [_term(equation, term) for term in inputs.split(",")]
    if len(terms) != len(operands):
        given = ", ".join(map(show, operands))
        fail("einsum", f"{equation!r} of {given}", f"{len(terms)} terms for {len(operands)} operands")
    counts = Counter(letter for front, _, back in terms for letter in front + back)
    once = "".join(sorted(letter for letter, count in counts.items() if count == 1))
    front, dots, back = _term(equation, output) if arrow else ("", True, once)
    for letter, count in Counter(front + back).items():
        if count > 1:
            _wrong(equation, f"{letter} is {count} times in the result: name each axis of the result once")
        if letter not in counts:
            _wrong(equation, f"{letter} of the result is in no operand: an axis has its size from an operand")
    open_axes = [_open(equation, term, shape) for term, shape in zip(terms, operands, strict=True)]
    any_axes = broadcast("einsum (axes of ...)", (), *open_axes)
    if any_axes and not dots:
        _wrong(equation, "the result leaves out ...: say where its axes go, or give them letters to sum over them")
    sizes: dict[str, Size] = {f".{len(any_axes) - place}": size for place, size in enumerate(any_axes)}
    labels: list[tuple[str, ...]] = []
    for (before, _, after), shape, more in zip(terms, operands, open_axes, strict=True):
        named = (*before, *(_shared(sizes, len(more) - place, size) for place, size in enumerate(more)), *after)
        for label, size in zip(named, shape, strict=True):
            if label.isalpha() and differ(sizes.setdefault(label, size), size):
                given = ", ".join(map(show, operands))
                fail("einsum", f"{equation!r} of {given}", f"{label} has sizes {sizes[label]} and {size}")
        labels.append(named)
    result = (*front, *(f".{number}" for number in range(len(any_axes), 0, -1)), *back)
    return Contraction(tuple(labels), result, sizes)


def tensordot(left: Sizes, right: Sizes, over: int | tuple[tuple[int, ...], tuple[int, ...]]) -> Contraction:
    """The last axes of one and the first of the other, so many, or pairs of axes by number."""
    given = f"{show(left)} and {show(right)}, axes {over}"
    if isinstance(over, int):
        if not 0 <= over <= min(len(left), len(right)):
            fail("tensordot", given, f"there must be {over} axes in both" if over > 0 else "a number of axes to sum")
        mine, its = tuple(range(len(left) - over, len(left))), tuple(range(over))
    else:
        mine, its = axes(left, over[0], "tensordot"), axes(right, over[1], "tensordot")
    if len(mine) != len(its):
        fail("tensordot", given, f"{len(mine)} axes of the first, {len(its)} of the second: they go in pairs")
    for one, other in zip(mine, its, strict=True):
        if differ(left[one], right[other]):
            fail("tensordot", given, f"axis {one} has size {left[one]}, axis {other} of the second {right[other]}")
    labels = [f"left {axis}" for axis in range(len(left))]
    others = [f"right {axis}" for axis in range(len(right))]
    for one, other in zip(mine, its, strict=True):
        others[other] = labels[one]
    result = tuple(label for label in (*labels, *others) if label not in {labels[one] for one in mine})
    sizes = dict(zip((*others, *labels), (*right, *left), strict=True))
    return Contraction((tuple(labels), tuple(others)), result, sizes)


def outer(left: Sizes, right: Sizes) -> Contraction:
    """Two vectors."""
    if len(left) != 1 or len(right) != 1:
        fail("outer", f"{show(left)} and {show(right)}", "both must have one axis; for others use einsum or tensordot")
    return tensordot(left, right, 0)


def _term(equation: str, term: str) -> tuple[str, bool, str]:
    """The letters before and after the dots, and whether there are any."""
    match = _TERM.fullmatch(term)
    if match is None:
        _wrong(equation, f"the term {term!r} is not of letters and at most one ...: write it as in 'ij,jk->ik'")
    return match[1], match[2] is not None, match[3]


def _open(equation: str, term: tuple[str, bool, str], shape: Sizes) -> Sizes:
    """The part of a shape that the dots stand for."""
    front, dots, back = term
    letters = len(front) + len(back)
    text = f"{front}{'...' if dots else ''}{back}"
    if len(shape) < letters or (not dots and len(shape) != letters):
        least = " at least" if dots else ""
        fail("einsum", f"{equation!r} of {show(shape)}", f"the term {text} needs{least} {letters} axes")
    return shape[len(front) : len(shape) - len(back)]


def _shared(sizes: Mapping[str, Size], number: int, size: Size) -> str:
    """The label of an axis of the dots, counted from the last one."""
    label = f".{number}"
    return REPEATED if provably_equal(size, 1) and not provably_equal(sizes[label], 1) else label


def _wrong(equation: str, rule: str) -> NoReturn:
    raise OptionError(f"einsum: {equation!r}: {rule}")
