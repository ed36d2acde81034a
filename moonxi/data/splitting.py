"""Splits of a data set into parts by fractions: at random, or with the same mixture of classes in each."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from moonxi.data.order import Indices, shuffled
from moonxi.errors import OperandError, OptionError, ShapeError
from moonxi.key import Key


class Selectable(Protocol):
    """A data set of which parts can be had by positions: `LabelledArrays`, `PairedArrays`, `Subset`."""

    def __len__(self) -> int: ...
    def __getitem__(self, chosen: Indices, /) -> Self: ...


def split[S: Selectable](dataset: S, fractions: Sequence[float], /, *, seed: int) -> tuple[S, ...]:
    """Parts with these fractions of the samples, drawn at random, each sample in exactly one.

    A part has its fraction of the samples, rounded up or down so that all of them are shared out. Each keeps the order
    of the data set. Parts of arrays are copies; those of ``Subset.whole(dataset)`` are views.

    Raises `OptionError` unless the fractions are positive and 1 together."""
    shares = _shares("split", fractions)
    order = shuffled(len(dataset), Key(seed).fold("split"))
    sizes = apportioned(len(dataset), shares, [Fraction(0)] * len(shares))
    return tuple(dataset[np.sort(part)] for part in _cut(order, sizes))


def stratified_split[S: Selectable](
    dataset: S, fractions: Sequence[float], /, *, labels: NDArray[np.integer], seed: int
) -> tuple[S, ...]:
    """Parts as those of `split`, each with the same mixture of classes; ``labels`` has the class of each sample.

    Of each class, as of the whole, a part has its fraction of the samples, rounded up or down for the class, and what
    rounding took from a part in one class is given back in the next.

    Raises `OptionError` unless the fractions are positive and 1 together, `OperandError` unless the labels are
    integers, and `ShapeError` unless there is one for each sample."""
    shares = _shares("stratified_split", fractions)
    if not np.issubdtype(labels.dtype, np.integer):
        raise OperandError(f"stratified_split: labels of {labels.dtype}: classes are integers")
    if labels.shape != (len(dataset),):
        raise ShapeError(f"stratified_split: {len(dataset)} samples, labels {labels.shape}: one for each sample")
    key = Key(seed).fold("stratified split")
    owed = [Fraction(0)] * len(shares)
    parts: list[list[Indices]] = [[] for _ in shares]
    for number in np.unique(labels):
        members = np.flatnonzero(labels == number)
        order = members[shuffled(len(members), key.fold(int(number)))]
        sizes = apportioned(len(members), shares, owed)
        owed = [old + len(members) * share - size for old, share, size in zip(owed, shares, sizes, strict=True)]
        for part, piece in zip(parts, _cut(order, sizes), strict=True):
            part.append(piece)
    none = np.zeros(0, np.intp)
    return tuple(dataset[np.sort(np.concatenate([none, *part]))] for part in parts)


def apportioned(count: int, shares: Sequence[Fraction], owed: Sequence[Fraction], /) -> tuple[int, ...]:
    """``count`` in whole numbers near ``count * share``, none off by 1 or more, that make ``count`` together.

    What is left after rounding down goes to the largest remainders (Hamilton's method), counting what is owed from
    before; between equal ones to the first."""
    exact = [count * share for share in shares]
    sizes = [number.numerator // number.denominator for number in exact]
    remainders = [number - size for number, size in zip(exact, sizes, strict=True)]
    rounded = [index for index, remainder in enumerate(remainders) if remainder]
    rounded.sort(key=lambda index: -(remainders[index] + owed[index]))
    for index in rounded[: count - sum(sizes)]:
        sizes[index] += 1
    return tuple(sizes)


def _shares(operation: str, fractions: Sequence[float], /) -> list[Fraction]:
    """The fractions as they are written, 0.1 as one tenth, so that a tenth of 30 is 3; together exactly 1."""
    if not fractions or not all(0 < one <= 1 for one in fractions) or abs(sum(fractions) - 1) > 1e-9:
        raise OptionError(f"{operation}: fractions {tuple(fractions)}: each is positive, and together they are 1")
    written = [Fraction(repr(float(one))) for one in fractions]
    return [one / sum(written) for one in written]


def _cut(order: Indices, sizes: Sequence[int], /) -> list[Indices]:
    ends = np.cumsum([0, *sizes])
    return [order[start:end] for start, end in pairwise(ends)]
