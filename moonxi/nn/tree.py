"""The structure of a model: which of the objects in it are parameters, state, layers, or static settings.

They are told apart by their type. A tensor is a parameter; a tensor in `State` is state; dataclasses, lists, tuples
and dicts are looked into; numbers, strings, functions and the like are settings. `Labels` and `Mask` are settings that
go along when a model is mapped. A tensor where none of this finds it would never be trained: that is an error.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from operator import is_not
from sys import getrecursionlimit
from typing import NamedTuple, TypeGuard

from moonxi.errors import ModuleError
from moonxi.nn.frozen import refuse_unfrozen
from moonxi.nn.hidden import BARE, refuse_beside, refuse_class_attributes, refuse_hidden
from moonxi.nn.state import State
from moonxi.traits import Labels, Mask, Tensor
from moonxi.traits.foreign import described

type Held = State[Tensor] | Labels[Tensor] | Mask[Tensor]
"""What holds a tensor that is not trained."""


class _Kind(Enum):
    TENSOR = 0
    HELD = 1
    RECORD = 2
    SEQUENCE = 3
    MAPPING = 4
    PLAIN = 5
    SETTING = 6


_kinds: dict[type, _Kind] = {}
_fields: dict[type, dict[str, None]] = {}


def _kind(value: object, path: str) -> _Kind:
    cls = value.__class__
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = _find_kind(value)
    if kind is _Kind.SETTING:
        refuse_hidden(value, path)
    elif kind is _Kind.SEQUENCE or kind is _Kind.MAPPING:
        refuse_beside(value, path)
    return kind


def _find_kind(value: object) -> _Kind:
    if value.__class__ in BARE:
        return _Kind.PLAIN
    if isinstance(value, type):  # a class of tensors has all that a tensor has
        return _Kind.SETTING
    if isinstance(value, State | Labels | Mask):
        return _Kind.HELD
    if isinstance(value, Tensor):
        return _Kind.TENSOR
    if is_dataclass(value):
        if hasattr(value, "forward"):  # a layer; one that has a __post_init__ of its own is not seen before
            refuse_unfrozen(type(value))
        return _Kind.RECORD
    if isinstance(value, list | tuple):
        return _Kind.SEQUENCE
    if isinstance(value, dict):
        return _Kind.MAPPING
    return _Kind.SETTING


def _is_tensor(_: object, kind: _Kind) -> TypeGuard[Tensor]:
    """What `_find_kind` has found of the class need not be looked up in the Protocol for each object again."""
    return kind is _Kind.TENSOR


class Leaf(NamedTuple):
    """A tensor in a model: where it stands, and whether it is state. ``holder`` is the `State` then."""

    path: str
    tensor: Tensor
    holder: State[Tensor] | None


def _field_names(record: object) -> dict[str, None]:
    """The names of the fields of a dataclass, in order."""
    cls = record.__class__
    names = _fields.get(cls)
    if names is None:
        names = {field.name: None for field in fields(record)} if is_dataclass(record) else {}
        refuse_class_attributes(cls, names)
        _fields[cls] = names
    return names


def _besides_fields(record: object, path: str) -> dict[str, object]:
    """The attributes of a dataclass that are not fields of it, less cached properties, which are computed again."""
    names = _field_names(record)
    attributes: dict[str, object] = getattr(record, "__dict__", {})
    if attributes.keys() <= names.keys():
        return {}
    cls = type(record)
    others = {
        name: value
        for name, value in attributes.items()
        if name not in names and not isinstance(getattr(cls, name, None), cached_property)
    }
    for name, value in others.items():
        for leaf in walk(value, _joined(path, name)):
            raise ModuleError(
                f"model: {leaf.path}: {name} is not a field of the dataclass {cls.__name__}, so this tensor would "
                "never be trained; declare the field"
            )
    return others


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _children(value: object, kind: _Kind, path: str) -> Iterator[tuple[str, object]]:
    """What a container holds, each with its path."""
    if kind is _Kind.RECORD:
        _besides_fields(value, path)
        prefix = f"{path}." if path else ""
        for name in _field_names(value):
            yield prefix + name, getattr(value, name)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield f"{path}[{number}]", one
    elif isinstance(value, dict):
        for key, one in value.items():
            yield f"{path}[{key!r}]", one


def walk(value: object, path: str = "") -> list[Leaf]:
    """Every parameter and state, in the order of the fields; a tied one once for each place."""
    found: list[Leaf] = []
    try:
        _collect(value, path, found)
    except RecursionError:
        raise _too_deep(value) from None
    return found


def _too_deep(value: object) -> ModuleError:
    return ModuleError(
        f"model: {type(value).__name__}: its parts are nested deeper than the {getrecursionlimit()} calls that Python "
        "makes within each other, or hold themselves: put the parts of a chain into one list or tuple"
    )


def _collect(value: object, path: str, found: list[Leaf]) -> None:
    kind = _kind(value, path)
    if kind is _Kind.PLAIN or kind is _Kind.SETTING:
        return
    if _is_tensor(value, kind):
        found.append(Leaf(path, value, None))
    elif kind is _Kind.HELD:
        if isinstance(value, State):
            found.append(Leaf(path, value.value, value))
    elif kind is _Kind.MAPPING and isinstance(value, dict):
        for (key, one), (place, _) in zip(value.items(), _children(value, kind, path), strict=True):
            start = len(found)
            _collect(one, place, found)
            if len(found) > start and not isinstance(key, str | int):
                raise ModuleError(
                    f"model: {found[start].path}: the key is a {type(key).__name__}; the keys of a dict with tensors "
                    "are strings or whole numbers, for they name the tensors, also in files"
                )
    else:
        for place, one in _children(value, kind, path):
            if _kinds.get(one.__class__) is not _Kind.PLAIN:  # as most fields of most layers are
                _collect(one, place, found)


def layers(root: object) -> Iterator[tuple[str, object]]:
    """Every object in the model that has a ``forward``, the model first, each with its path; a tied one once."""
    found: set[int] = set()

    def visit(value: object, path: str) -> Iterator[tuple[str, object]]:
        kind = _kind(value, path)
        if hasattr(value, "forward") and not isinstance(value, type) and id(value) not in found:
            found.add(id(value))
            yield path, value
        for place, one in _children(value, kind, path):
            yield from visit(one, place)

    try:
        return iter(list(visit(root, "")))
    except RecursionError:
        raise _too_deep(root) from None


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


def tensors(value: object) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What `parameters` gives, and the tensors in what `states` gives, in one walk."""
    seen: set[int] = set()
    trained: dict[str, Tensor] = {}
    held: dict[str, Tensor] = {}
    for leaf in walk(value):
        key = id(leaf.tensor if leaf.holder is None else leaf.holder)
        if key not in seen:
            seen.add(key)
            (trained if leaf.holder is None else held)[leaf.path] = leaf.tensor
    return trained, held


def mapped(value: object, f: Callable[[Tensor], Tensor]) -> object:
    """The same structure with ``f`` of each tensor; what is tied stays tied. State takes no part in differentiation."""

    def of_held(held: Held) -> Held:
        return State(f(held.value).stop_gradient()) if isinstance(held, State) else held.map(f)

    try:
        return _rebuild(value, _distinct(f), of_held, {})
    except RecursionError:
        raise _too_deep(value) from None


def replaced(value: object, new_parameters: Sequence[Tensor] | None, new_states: Sequence[Tensor] | None) -> object:
    """The same structure with other parameters, states or both, in the order of `parameters` and `states`."""
    tensors, values = iter(new_parameters or ()), iter(new_states or ())

    def of_tensor(tensor: Tensor) -> Tensor:
        return tensor if new_parameters is None else next(tensors)

    def of_held(held: Held) -> Held:
        return State(next(values)) if new_states is not None and isinstance(held, State) else held

    return _rebuild(value, _distinct(of_tensor), of_held, {})


def _distinct(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """``f`` with another object for each tensor: one object twice would be a tie that the model does not have.

    Gradients are such a case: those of ``a`` and ``b`` in ``(a + b).sum()`` are one and the same tensor."""
    given: dict[int, Tensor] = {}

    def call(tensor: Tensor) -> Tensor:
        new = f(tensor)
        if _kinds.get(new.__class__) is not _Kind.TENSOR and _find_kind(new) is not _Kind.TENSOR:
            raise ModuleError(
                f"map: the function gave {described(new)} for {described(tensor)}: expected a tensor for each tensor"
            )
        if id(new) in given:
            new = new.reshape(new.shape)
        given[id(new)] = new
        return new

    return call


def _rebuild(
    value: object, f: Callable[[Tensor], Tensor], g: Callable[[Held], Held], memo: dict[int, object]
) -> object:
    """The same structure, in the order of `walk`; what is one object before is one object after, also if unchanged."""
    done = memo.get(id(value))
    if done is not None:
        return done
    kind = _kind(value, "")
    new = value
    if _is_tensor(value, kind):
        new = f(value)
    elif kind is _Kind.HELD and isinstance(value, State | Labels | Mask):
        new = g(value)
    elif kind is _Kind.RECORD:
        after, changed = dict[str, object](), False
        for name in _field_names(value):
            one = after[name] = getattr(value, name)
            if _kinds.get(one.__class__) is not _Kind.PLAIN:  # as most fields of most layers are
                after[name] = _rebuild(one, f, g, memo)
                changed = changed or after[name] is not one
        if changed:
            new = object.__new__(type(value))
            for name, one in {**_besides_fields(value, ""), **after}.items():
                object.__setattr__(new, name, one)
    elif isinstance(value, list):
        new = copy(value)
        new[:] = [_rebuild(one, f, g, memo) for one in value]
    elif isinstance(value, tuple):
        parts = tuple(_rebuild(one, f, g, memo) for one in value)
        if any(map(is_not, parts, value)):
            new = parts if type(value) is tuple else tuple.__new__(type(value), parts)
    elif isinstance(value, dict):
        new = copy(value)
        new.update({key: _rebuild(one, f, g, memo) for key, one in value.items()})
    memo[id(value)] = new
    return new
