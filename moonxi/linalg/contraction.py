"""How a contraction is computed: two operands at a time, by matrix products."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

import numpy as np

from moonxi import shapes
from moonxi.dims import Size
from moonxi.shapes import REPEATED, Contraction
from moonxi.traits import MlpTensor, Shape


@dataclass(frozen=True, slots=True)
class _Operand[T]:
    """A tensor with a label for each axis, none of them twice."""

    labels: tuple[str, ...]
    tensor: T


def contracted[T: MlpTensor](plan: Contraction, tensors: Sequence[T]) -> T:
    """The result of a contraction of tensors whose shapes it was made for."""
    left = [_operand(labels, one, plan) for labels, one in zip(plan.operands, tensors, strict=True)]
    for step in _order(plan, left):
        chosen = [left[number] for number in step]
        left = [one for number, one in enumerate(left) if number not in step]
        while len(chosen) > 1:
            first, second, *chosen = chosen
            needed = {*plan.result, *(label for one in (*left, *chosen) for label in one.labels)}
            chosen.insert(0, _product(first, second, needed, plan))
        left += chosen
    [last] = left
    last = _summed(last, plan.result)
    return _arranged(last, plan.result)


def _operand[T: MlpTensor](labels: tuple[str, ...], tensor: T, plan: Contraction) -> _Operand[T]:
    """Without axes that are only repeated, and with the diagonal in place of two axes of one label."""
    repeated = tuple(axis for axis, label in enumerate(labels) if label == REPEATED)
    if repeated:
        tensor = tensor.squeeze(repeated)
        labels = tuple(label for label in labels if label != REPEATED)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            others = tuple(axis for axis in range(len(labels)) if axis not in (first, second))
            tensor = _diagonal(tensor.permute((*others, first, second)))
            labels = (*(labels[axis] for axis in others), label)
    return _Operand(labels, tensor)


def _diagonal[T: MlpTensor](x: T) -> T:
    """Of the last two axes, of one size n. With a row more, each n + 1 elements begin with one of the diagonal."""
    *before, n, _ = x.shape
    flat = x.reshape((*before, n * n))
    return flat.concatenate(flat.zeros((*before, n)), axis=-1).reshape((*before, n, n + 1))[..., 0]


def _order[T: MlpTensor](plan: Contraction, operands: Sequence[_Operand[T]]) -> Iterable[tuple[int, ...]]:
    """Which operands go together in each step; results come last. NumPy's greedy search, or as they stand."""
    letters = dict(zip(plan.sizes, ascii_letters, strict=False))
    if len(operands) < 3 or len(letters) < len(plan.sizes) or not shapes.known(*plan.sizes.values()):
        return [tuple(range(len(operands)))]
    terms = ["".join(letters[label] for label in labels) for labels in (*(one.labels for one in operands), plan.result)]
    like = [np.broadcast_to(np.float32(0.0), one.tensor.shape) for one in operands]  # these take no memory
    path, _ = np.einsum_path(f"{','.join(terms[:-1])}->{terms[-1]}", *like, optimize="greedy")
    return [step for step in path if isinstance(step, tuple)]


def _product[T: MlpTensor](
    left: _Operand[T], right: _Operand[T], needed: Iterable[str], plan: Contraction
) -> _Operand[T]:
    """The product of two operands, summed over the axes that are needed no more."""
    kept = set(needed)
    left = _summed(left, kept | set(right.labels))
    right = _summed(right, kept | set(left.labels))
    shared = [label for label in left.labels if label in right.labels]
    batch, inner = [one for one in shared if one in kept], [one for one in shared if one not in kept]
    mine = [label for label in left.labels if label not in shared]
    its = [label for label in right.labels if label not in shared]
    labels = (*batch, *mine, *its)
    if not inner or not (mine or its):
        x = _arranged(left, (*batch, *mine, *inner)).reshape(_sizes(plan, batch, mine, [None] * len(its), inner))
        y = _arranged(right, (*batch, *its, *inner)).reshape(_sizes(plan, batch, [None] * len(mine), its, inner))
        return _Operand(labels, (x * y).sum(tuple(range(len(labels), len(labels) + len(inner)))) if inner else x * y)
    before, among = _sizes(plan, batch), prod(_sizes(plan, inner))
    rows = _arranged(left, (*batch, *mine, *inner)).reshape((*before, prod(_sizes(plan, mine)), among))
    columns = _arranged(right, (*batch, *inner, *its)).reshape((*before, among, prod(_sizes(plan, its))))
    return _Operand(labels, (rows @ columns).reshape(_sizes(plan, labels)))


def _summed[T: MlpTensor](operand: _Operand[T], kept: Iterable[str]) -> _Operand[T]:
    """Without the axes that are not to be kept."""
    gone = tuple(axis for axis, label in enumerate(operand.labels) if label not in kept)
    if not gone:
        return operand
    return _Operand(tuple(label for label in operand.labels if label in kept), operand.tensor.sum(gone))


def _arranged[T: MlpTensor](operand: _Operand[T], labels: tuple[str, ...]) -> T:
    """With the axes in this order."""
    if operand.labels == labels:
        return operand.tensor
    return operand.tensor.permute(tuple(map(operand.labels.index, labels)))


def _sizes(plan: Contraction, *groups: Iterable[str | None]) -> Shape:
    """The sizes of axes, 1 for none."""
    found: tuple[Size, ...] = tuple(1 if one is None else plan.sizes[one] for group in groups for one in group)
    return found  # type: ignore[return-value]  # a Dim has the arithmetic of an int, all that is asked of it
