"""Running statistics moved all at once, for tensor classes that compute formulas (`moonxi.formulas`)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from moonxi.autodiff.node import is_node
from moonxi.formulas import Formula
from moonxi.fusion import can_fuse, formula_of, of_members
from moonxi.traits.foreign import same_kind


class Move(NamedTuple):
    """A state field that goes a share of the way to a value; both are constants of one level of differentiation."""

    state: object
    before: object
    plain: list[Any]
    """Where it is before and where it goes to, without any level."""
    kind: tuple[float, object]
    """The share of the way, and what tensors have in common that are computed with together."""


def waiting(state: object, before: object, target: object, share: float, /) -> Move | None:
    """The move, if it can be made later, beside others."""
    one, other = before, target
    while is_node(one) and is_node(other):
        one, other = one.value, other.value
    alike = getattr(one, "alike", None)
    if can_fuse(one) and same_kind(one, other) and alike is getattr(other, "alike", None):
        return Move(state, before, [one, other], (share, alike))
    return None


def moved(moves: Sequence[Move], /) -> Iterator[tuple[Move, object]]:
    """Each with where it comes to, those of one share together."""
    groups: dict[tuple[float, object], list[Move]] = {}
    for move in moves:
        groups.setdefault(move.kind, []).append(move)
    for (share, _), group in groups.items():
        made = of_members(_formula(share), [move.plain for move in group])
        assert made is not None, "of a class that computes formulas, as was asked before"
        for move, value in zip(group, made, strict=True):
            yield move, _lifted(value, move.before)


@lru_cache(maxsize=64)
def _formula(share: float) -> Formula | None:
    return formula_of(lambda each, _: ([each[0] * (1.0 - share) + each[1] * share], []), each=2)


def _lifted(value: object, like: object) -> object:
    """A constant at the level of another tensor."""
    return type(like).constant(_lifted(value, like.value)) if is_node(like) else value
