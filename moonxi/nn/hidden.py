"""The search for tensors in a model where nothing would ever find and train them.

What it cannot see is what a function reads from its module, what a property computes, and what weak references and
objects of other languages hold.
"""

from collections import deque
from collections.abc import Container, ItemsView, Iterator, KeysView, ValuesView
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial, partialmethod
from gc import get_referents
from types import (
    BuiltinMethodType,
    CellType,
    FrameType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Final
from weakref import WeakValueDictionary

import numpy as np

from moonxi.errors import ModuleError
from moonxi.nn.state import State
from moonxi.traits import Labels, Mask, Tensor

BARE: Final = frozenset({int, float, complex, str, bytes, bool, type(None)})
"""Classes whose objects hold nothing; subclasses of them may have attributes."""
_OPAQUE: Final = (
    Iterator,
    KeysView,
    ValuesView,
    ItemsView,
    BuiltinMethodType,
    MethodWrapperType,
    staticmethod,
    classmethod,
    partialmethod,
    slice,
)
"""Kinds of objects that keep what they hold where only the garbage collector finds it."""

_HOLDERS: Final = (list, tuple, set, frozenset, dict, State, Labels, Mask, Tensor)
"""What a class may have as an attribute that is, or holds, a tensor."""

_searched: "WeakValueDictionary[int, object]" = WeakValueDictionary()
"""Settings that hide nothing, by identity: a model is a value, so each is searched once."""


def refuse_hidden(value: object, path: str) -> None:
    """Raise `ModuleError` for a setting that holds a tensor, at any depth: in a set, a closure, a foreign object."""
    if _searched.get(id(value)) is value:
        return
    if isinstance(value, np.ndarray):
        raise ModuleError(
            f"model: field {path}: an ndarray is neither a parameter nor state; bring it in with "
            "like.from_host(array), and wrap it in State(...) if it is not trained"
        )
    found = _first_tensor(value)
    if found is not None:
        what = f"model: field {path}: a {type(value).__name__}" if path else f"model: a {type(value).__name__}"
        advice = "put it into a field of its own, a list, a tuple or a dict"
        if hasattr(type(value), "forward"):
            advice = f"make {type(value).__name__} a dataclass: @dataclass(frozen=True)"
        raise ModuleError(f"{what} hides a {found}, which would never be trained; {advice}")
    with suppress(TypeError):  # of classes without weak references
        _searched[id(value)] = value


def refuse_beside(container: object, path: str) -> None:
    """Raise `ModuleError` for a tensor beside the elements of a list, a tuple or a dict: an attribute or a key."""
    attributes = getattr(container, "__dict__", None)
    if attributes:
        _refuse(_first_tensor(attributes), type(container).__name__, path)
    if isinstance(container, dict) and not all(isinstance(key, str | int) for key in container):
        _refuse(_first_tensor(list(container)), "key of a dict", path)


def refuse_class_attributes(cls: type, fields: Container[str]) -> None:
    """Raise `ModuleError` for a tensor that a class has and none of its fields: all models would share it, on one
    device."""
    for name, value in _class_attributes(cls):
        found = None if name in fields else _first_tensor((value,))
        if found is not None:
            raise ModuleError(
                f"model: {cls.__name__}.{name}: an attribute of the class holds a {found}, which would never be "
                "trained or go where the model goes; make it a field, a State if it is not trained"
            )


def _refuse(found: str | None, holder: str, path: str) -> None:
    if found is not None:
        raise ModuleError(
            f"model: field {path}: a {holder} hides a {found}, which would never be trained; put it into a field of "
            "its own, a list, a tuple or a dict"
        )


def _first_tensor(value: object) -> str | None:
    """The class of the first tensor inside, or of the first dataclass with a tensor; None without any."""
    seen: dict[int, object] = {}  # holds the objects, so that no identity is given to another meanwhile
    waiting: deque[tuple[object, str | None]] = deque([(value, None)])
    while waiting:
        holder, owner = waiting.popleft()
        for one in _inside(holder):
            if id(one) in seen or one.__class__ in BARE or isinstance(one, ModuleType):
                continue
            seen[id(one)] = one
            name = owner or (type(one).__name__ if is_dataclass(one) else None)
            if isinstance(one, State | Labels | Mask | Tensor):
                return name or type(one).__name__
            waiting.append((one, name))
    return None


def _inside(value: object) -> Iterator[object]:
    """What an object holds, without running any code of its own."""
    if isinstance(value, list | tuple | set | frozenset | deque):
        yield from value
    elif isinstance(value, dict | MappingProxyType):
        yield from value
        yield from value.values()
    elif isinstance(value, type):
        yield from (one for _, one in _class_attributes(value))
        return
    elif isinstance(value, FunctionType):
        yield from map(_contents, value.__closure__ or ())
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, _OPAQUE):
        yield from (one for one in get_referents(value) if not isinstance(one, type))
    elif isinstance(value, FrameType):  # that of a generator
        yield from value.f_locals.values()
    yield from getattr(value, "__dict__", {}).values()
    if type(value).__module__ != "builtins":
        yield from (one for _, one in _class_attributes(type(value)))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            yield getattr(value, slot, None)


def _class_attributes(cls: type) -> Iterator[tuple[str, object]]:
    """What the class and its bases hold themselves, and no functions, properties or slots."""
    for one in cls.__mro__[:-1]:
        for name, value in vars(one).items():
            if name.startswith("__") or isinstance(value, FunctionType | type | property | MemberDescriptorType):
                continue
            if is_dataclass(value) or isinstance(value, _HOLDERS):
                yield name, value


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None
