"""The structure of a model: which of the objects in it are parameters, state, layers, or static settings.

They are told apart by their type. A tensor is a parameter; a tensor in `State` is state; dataclasses, lists, tuples
and dicts are looked into; numbers, strings, functions and the like are settings. `Labels` and `Mask` are settings that
go along when a model is mapped. A tensor where none of this finds it would never be trained: that is an error.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property

from moonxi.errors import ModuleError
from moonxi.nn.hidden import refuse_hidden
from moonxi.nn.state import State
from moonxi.traits import Labels, Mask, Tensor

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


_kinds: dict[type, _Kind] = {type: _Kind.PLAIN}
_fields: dict[type, tuple[str, ...]] = {}


def _kind(value: object, path: str) -> _Kind:
    cls = value.__class__
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = _find_kind(value)
    if kind is _Kind.SETTING:
        refuse_hidden(value, path)
    return kind


def _find_kind(value: object) -> _Kind:
    if isinstance(value, int | float | complex | str | bytes | type | Enum | None):
        return _Kind.PLAIN
    if isinstance(value, State | Labels | Mask):
        return _Kind.HELD
    if isinstance(value, Tensor):
        return _Kind.TENSOR
    if is_dataclass(value):
        return _Kind.RECORD
    if isinstance(value, list | tuple):
        return _Kind.SEQUENCE
    if isinstance(value, dict):
        return _Kind.MAPPING
    return _Kind.SETTING


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor in a model: where it stands, and whether it is state. ``holder`` is the `State` then."""

    path: str
    tensor: Tensor
    holder: State[Tensor] | None


def _field_names(record: object) -> tuple[str, ...]:
    cls = record.__class__
    names = _fields.get(cls)
    if names is None and is_dataclass(record):
        names = _fields[cls] = tuple(field.name for field in fields(record))
    return names or ()


def _besides_fields(record: object, path: str) -> dict[str, object]:
    """The attributes of a dataclass that are not fields of it, less cached properties, which are computed again."""
    names = _field_names(record)
    attributes: dict[str, object] = getattr(record, "__dict__", {})
    if len(attributes) <= len(names):
        return {}
    cls = type(record)
    others = {name: value for name, value in attributes.items() if name not in names}
    others = {
        name: value for name, value in others.items() if not isinstance(getattr(cls, name, None), cached_property)
    }
    for name, value in others.items():
        for leaf in walk(value, _joined(path, name)):
            raise ModuleError(
                f"model: {leaf.path}: a tensor in an attribute that is not a field of the dataclass {cls.__name__} would "
                "never be trained; declare the field"
            )
    return others


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _children(value: object, kind: _Kind, path: str) -> Iterator[tuple[str, object]]:
    """What a container holds, each with its path."""
    if kind is _Kind.RECORD:
        _besides_fields(value, path)
        for name in _field_names(value):
            yield _joined(path, name), getattr(value, name)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield f"{path}[{number}]", one
    elif isinstance(value, dict):
        for key, one in value.items():
            yield f"{path}[{key!r}]", one


def walk(value: object, path: str = "") -> Iterator[Leaf]:
    """Every parameter and state, in the order of the fields; a tied one once for each place."""
    kind = _kind(value, path)
    if kind is _Kind.TENSOR and isinstance(value, Tensor):
        yield Leaf(path, value, None)
    elif kind is _Kind.HELD:
        if isinstance(value, State):
            yield Leaf(path, value.value, value)
    elif kind is _Kind.MAPPING and isinstance(value, dict):
        for (key, one), (place, _) in zip(value.items(), _children(value, kind, path), strict=True):
            for leaf in walk(one, place):
                if not isinstance(key, str | int):
                    raise ModuleError(
                        f"model: {leaf.path}: the key is a {type(key).__name__}; the keys of a dict with tensors are "
                        "strings or whole numbers, for they name the tensors, also in files"
                    )
                yield leaf
    elif kind in (_Kind.RECORD, _Kind.SEQUENCE):
        for place, one in _children(value, kind, path):
            yield from walk(one, place)


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

    return visit(root, "")
