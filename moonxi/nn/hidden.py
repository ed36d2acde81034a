"""The search for tensors in a model where nothing would ever find and train them."""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import partial
from types import CellType, FunctionType, MappingProxyType, MethodType, ModuleType
from weakref import WeakValueDictionary

import numpy as np

from moonxi.errors import ModuleError
from moonxi.nn.state import State
from moonxi.traits import Labels, Mask, Tensor

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


def _first_tensor(value: object) -> str | None:
    """The class of the first tensor inside, or of the first dataclass with a tensor; None without any."""
    seen: dict[int, object] = {}  # holds the objects, so that no identity is given to another meanwhile
    waiting: deque[tuple[object, str | None]] = deque([(value, None)])
    while waiting:
        holder, owner = waiting.popleft()
        for one in _inside(holder):
            if id(one) in seen or isinstance(one, int | float | str | bytes | type | Enum | ModuleType):
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
        yield from value.values()
    elif isinstance(value, FunctionType):
        yield from map(_contents, value.__closure__ or ())
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    yield from getattr(value, "__dict__", {}).values()
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            yield getattr(value, slot, None)


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None
