"""Running statistics moved all at once, for tensor classes that compute formulas (`moonxi.formulas`)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from moonxi.autodiff.node import Node
from moonxi.formulas import Formula
from moonxi.fusion import can_fuse, formula_of, of_members
from moonxi.traits.foreign import same_kind


class Move(NamedTuple):
    """A state field that goes a share of the way to a value; both are constants of one level of differentiation."""

    state: object
    before: object
    target: object
    share: float


def can_wait(before: object, target: object, /) -> bool:
    """Whether a move between the two can be made later, beside others."""
    one, other = _plain(before), _plain(target)
    return can_fuse(one) and same_kind(one, other) and _alike(one) is _alike(other)


def moved(moves: Sequence[Move], /) -> Iterator[tuple[Move, object]]:
    """Each with where it comes to, those of one share together."""
    groups: dict[tuple[float, object], list[Move]] = {}
    for move in moves:
        groups.setdefault((move.share, _alike(_plain(move.before))), []).append(move)
    for (share, _), group in groups.items():
        operands: list[list[Any]] = [[_plain(move.before), _plain(move.target)] for move in group]
        made = of_members(_formula(share), operands)
        assert made is not None, "of a class that computes formulas, as can_wait has found"
        for move, value in zip(group, made, strict=True):
            yield move, _lifted(value, move.before)


@lru_cache(maxsize=64)
def _formula(share: float) -> Formula | None:
    return formula_of(lambda each, _: ([each[0] * (1.0 - share) + each[1] * share], []), each=2)


def _plain(tensor: object) -> object:
    while isinstance(tensor, Node):
        tensor = tensor.value
    return tensor


def _lifted(value: object, like: object) -> object:
    """A constant at the level of another tensor."""
    return type(like).constant(_lifted(value, like.value)) if isinstance(like, Node) else value


def _alike(tensor: object) -> object:
    """What tensors have in common that are computed with together."""
    return getattr(tensor, "alike", None)
