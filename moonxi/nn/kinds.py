"""Which of the objects in a model are parameters, state, layers, or static settings: told apart by their type.

A tensor is a parameter; a tensor in `State` is state; dataclasses, lists, tuples and dicts are looked into; numbers,
strings, functions and the like are settings. `Labels` and `Mask` are settings that go along when a model is mapped.
"""

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import TypeGuard

from moonxi.nn.frozen import refuse_unfrozen
from moonxi.nn.hidden import BARE, refuse_beside, refuse_class_attributes, refuse_hidden
from moonxi.nn.state import State
from moonxi.traits import Labels, Mask, Tensor


class Kind(Enum):
    """What an object in a model is."""

    TENSOR = 0
    HELD = 1
    RECORD = 2
    SEQUENCE = 3
    MAPPING = 4
    PLAIN = 5
    SETTING = 6


_kinds: dict[type, Kind] = {}
_fields: dict[type, dict[str, None]] = {}


def kind_of(value: object, path: str, /) -> Kind:
    """What an object is. Raises `ModuleError` if it hides a tensor."""
    cls = value.__class__
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = _find_kind(value)
    if kind is Kind.SETTING:
        refuse_hidden(value, path)
    elif kind is Kind.SEQUENCE or kind is Kind.MAPPING:
        refuse_beside(value, path)
    return kind


def _find_kind(value: object) -> Kind:
    if value.__class__ in BARE:
        return Kind.PLAIN
    if isinstance(value, type):  # a class of tensors has all that a tensor has
        return Kind.SETTING
    if isinstance(value, State | Labels | Mask):
        return Kind.HELD
    if isinstance(value, Tensor):
        return Kind.TENSOR
    if is_dataclass(value):
        if hasattr(value, "forward"):  # a layer; one that has a __post_init__ of its own is not seen before
            refuse_unfrozen(type(value))
        return Kind.RECORD
    if isinstance(value, list | tuple):
        return Kind.SEQUENCE
    if isinstance(value, dict):
        return Kind.MAPPING
    return Kind.SETTING


def is_plain(value: object, /) -> bool:
    """Whether an object of this class was found to hold nothing, as most fields of most layers do."""
    return _kinds.get(value.__class__) is Kind.PLAIN


def is_tensor(value: object, /) -> TypeGuard[Tensor]:  # type: ignore[tensor-mix]  # a model is one of any class
    """Whether it is one: what has been found of a class is not looked up in the Protocol for each object again."""
    cls = value.__class__
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = _find_kind(value)
    return kind is Kind.TENSOR


def field_names(record: object, /) -> dict[str, None]:
    """The names of the fields of a dataclass, in order."""
    cls = record.__class__
    names = _fields.get(cls)
    if names is None:
        names = {field.name: None for field in fields(record)} if is_dataclass(record) else {}
        refuse_class_attributes(cls, names)
        _fields[cls] = names
    return names


def besides_fields(record: object, /) -> dict[str, object]:
    """The attributes of a dataclass that are not fields of it, less cached properties, which are computed again."""
    names = field_names(record)
    attributes: dict[str, object] = getattr(record, "__dict__", {})
    if attributes.keys() <= names.keys():
        return {}
    cls = type(record)
    return {
        name: value
        for name, value in attributes.items()
        if name not in names and not isinstance(getattr(cls, name, None), cached_property)
    }
