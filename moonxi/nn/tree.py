"""The structure of a model: which of the objects in it are parameters, state, layers, or static settings.

They are told apart by their type. A tensor is a parameter; a tensor in `State` is state; dataclasses, lists, tuples
and dicts are looked into; numbers, strings, functions and the like are settings. A tensor where none of this finds
it would never be trained, so hiding one in a set, a closure or a foreign object is an error.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import CellType, FunctionType
from typing import Protocol

import numpy as np
from typing_extensions import TypeIs

from moonxi.errors import ModuleError
from moonxi.traits import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class State[T: Tensor]:
    """A tensor that belongs to a model and is not trained, such as a running mean."""

    value: T

    def _like(self, value: T, /) -> "State[T]":
        """Makes the class invariant in ``T``."""
        return State(value)


class _Kind(Enum):
    TENSOR = 0
    STATE = 1
    RECORD = 2
    SEQUENCE = 3
    MAPPING = 4
    SETTING = 5


_kinds: dict[type, _Kind] = {}


def _kind(value: object, path: str) -> _Kind:
    cls = value.__class__
    kind = _kinds.get(cls)
    if kind is None:
        kind = _find_kind(value)
        if kind is not _Kind.SETTING or cls in (int, float, bool, str, bytes, complex, type(None)):
            _kinds[cls] = kind  # other settings are looked at each time, for what they may hide
    if kind is _Kind.SETTING and cls not in _kinds:
        _refuse_hidden(value, path)
    return kind


def _find_kind(value: object) -> _Kind:
    if isinstance(value, State):
        return _Kind.STATE
    if isinstance(value, Tensor):
        return _Kind.TENSOR
    if is_dataclass(value) and not isinstance(value, type):
        return _Kind.RECORD
    if isinstance(value, list | tuple):
        return _Kind.SEQUENCE
    if isinstance(value, dict):
        return _Kind.MAPPING
    return _Kind.SETTING


def _refuse_hidden(value: object, path: str) -> None:
    """Raise for a tensor or a layer that the walk would not find."""
    if isinstance(value, np.ndarray):
        raise ModuleError(
            f"model: field {path}: an ndarray is neither a parameter nor state; bring it in with like.from_host(array), "
            "and wrap it in State(...) if it is not trained"
        )
    inside: list[object] = []
    if isinstance(value, set | frozenset | deque):
        inside = list(value)
    elif isinstance(value, FunctionType):
        inside = [_contents(cell) for cell in value.__closure__ or ()]
    elif hasattr(value, "__dict__") and not isinstance(value, type | Enum):
        inside = list(vars(value).values())
    for one in inside:
        if isinstance(one, type | Enum):
            continue
        if isinstance(one, State | Tensor) or (is_dataclass(one) and next(walk(one), None) is not None):
            raise ModuleError(
                f"model: field {path}: a {type(value).__name__} hides a {type(one).__name__}, which would never be "
                "trained; put it into a field of its own, a list, a tuple or a dict"
            )


class _NamedTuple(Protocol):
    @classmethod
    def _make(cls, values: Iterable[object], /) -> object: ...


def _is_named(value: object) -> TypeIs[_NamedTuple]:
    return hasattr(value, "_make")


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor in a model: where it stands, and whether it is state. ``holder`` is the `State` then."""

    path: str
    tensor: Tensor
    holder: "State[Tensor] | None"


def _children(value: object, kind: _Kind, path: str) -> Iterator[tuple[str, object]]:
    """What a container holds, each with its path."""
    dot = f"{path}." if path else ""
    if kind is _Kind.RECORD and is_dataclass(value):
        for field in fields(value):
            yield dot + field.name, getattr(value, field.name)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield f"{path}[{number}]", one
    elif isinstance(value, dict):
        for key, one in value.items():
            yield f"{path}[{key!r}]", one


def walk(value: object, path: str = "") -> Iterator[Leaf]:
    """Every tensor, in the order of the fields; a tied one once for each place."""
    kind = _kind(value, path)
    if kind is _Kind.TENSOR and isinstance(value, Tensor):
        yield Leaf(path, value, None)
    elif kind is _Kind.STATE and isinstance(value, State):
        yield Leaf(path, value.value, value)
    elif kind is not _Kind.SETTING:
        for place, one in _children(value, kind, path):
            yield from walk(one, place)


def layers(root: object) -> Iterator[tuple[str, object]]:
    """Every object in the model that has a ``forward``, the model first, each with its path; a tied one once."""
    found: set[int] = set()

    def visit(value: object, path: str) -> Iterator[tuple[str, object]]:
        kind = _kind(value, path)
        if kind in (_Kind.TENSOR, _Kind.STATE, _Kind.SETTING):
            return
        if hasattr(value, "forward") and id(value) not in found:
            found.add(id(value))
            yield path, value
        for place, one in _children(value, kind, path):
            yield from visit(one, place)

    return visit(root, "")


def parameters(value: object) -> dict[str, Tensor]:
    """The trainable tensors by path; a tied one once, at its first place."""
    seen: set[int] = set()
    found: dict[str, Tensor] = {}
    for leaf in walk(value):
        if leaf.holder is None and id(leaf.tensor) not in seen:
            seen.add(id(leaf.tensor))
            found[leaf.path] = leaf.tensor
    return found


def states(value: object) -> dict[str, State[Tensor]]:
    """The state fields by path; a shared one once, at its first place."""
    seen: set[int] = set()
    found: dict[str, State[Tensor]] = {}
    for leaf in walk(value):
        if leaf.holder is not None and id(leaf.holder) not in seen:
            seen.add(id(leaf.holder))
            found[leaf.path] = leaf.holder
    return found


def mapped(value: object, f: Callable[[Tensor], Tensor]) -> object:
    """The same structure with ``f`` of each parameter and each state; what is tied stays tied."""
    return _rebuild(value, f, lambda state: State(f(state.value)), {})


def replaced(value: object, new_parameters: Sequence[Tensor] | None, new_states: Sequence[Tensor] | None) -> object:
    """The same structure with other parameters, states or both, in the order of `parameters` and `states`."""
    tensors, holders = iter(new_parameters or ()), iter(new_states or ())
    return _rebuild(
        value,
        (lambda tensor: tensor) if new_parameters is None else (lambda _: next(tensors)),
        (lambda state: state) if new_states is None else (lambda _: State(next(holders))),
        {},
    )


def _rebuild(
    value: object, f: Callable[[Tensor], Tensor], g: Callable[[State[Tensor]], State[Tensor]], memo: dict[int, object]
) -> object:
    """The same structure, in the order of `walk`; what is one object before is one object after."""
    done = memo.get(id(value))
    if done is not None:
        return done
    kind = _kind(value, "")
    new: object
    if kind is _Kind.TENSOR and isinstance(value, Tensor):
        new = f(value)
    elif kind is _Kind.STATE and isinstance(value, State):
        new = g(value)
    elif kind is _Kind.RECORD and is_dataclass(value):
        new = object.__new__(type(value))
        changed = False
        for field in fields(value):
            before = getattr(value, field.name)
            after = _rebuild(before, f, g, memo)
            object.__setattr__(new, field.name, after)
            changed = changed or after is not before
        new = new if changed else value
    elif isinstance(value, list):
        new = [_rebuild(one, f, g, memo) for one in value]
    elif isinstance(value, tuple):
        parts = [_rebuild(one, f, g, memo) for one in value]
        new = type(value)._make(parts) if _is_named(value) else tuple(parts)
    elif isinstance(value, dict):
        new = {key: _rebuild(one, f, g, memo) for key, one in value.items()}
    else:
        return value
    memo[id(value)] = new
    return new
