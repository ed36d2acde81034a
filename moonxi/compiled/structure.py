"""Arguments and results as a list of leaves and the structure around them.

Leaves are tensors and keys. Dataclasses, lists, tuples and dicts are looked into; numbers, strings, functions and the
like belong to the structure. What is one object in two places is one leaf, as a tied weight is.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from inspect import signature
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    GenericAlias,
    MethodType,
    NoneType,
    NotImplementedType,
    UnionType,
)
from typing import Final, TypeAliasType, TypeVar, override

import numpy as np

from moonxi.compiled.graph import Spec, exact
from moonxi.errors import CompileError
from moonxi.key import Key
from moonxi.traits import Tensor


@dataclass
class _WithFactory:
    made: list[int] = field(default_factory=list)


_FACTORY = signature(_WithFactory).parameters["made"].default
"""What stands in the signature of a dataclass for a default that is made anew each time."""
_PLAIN = (
    *(NoneType, bool, int, float, complex, str, bytes, Enum, slice, range, frozenset, np.number, np.bool_),
    *(type, FunctionType, BuiltinFunctionType, CodeType, EllipsisType, NotImplementedType, type(_FACTORY)),
    *(TypeAliasType, TypeVar, GenericAlias, UnionType),
)
_tensor_classes: dict[type, bool] = {}


@dataclass(slots=True)
class Found:
    """What was met on a walk: the leaves, the records and the functions, each once."""

    leaves: list[object]
    records: list[object]
    functions: list[object]
    """And classes."""


class Structure:
    """What stands around the leaves: one of the classes below, which are compared as values."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TensorLeaf(Structure):
    """A tensor of one class, shape and element type: a new one, or one that was met before."""

    number: int
    cls: type
    spec: Spec
    alike: object = None
    """What the tensor is computed with, its element type too, where its class has such an attribute."""


@dataclass(frozen=True, slots=True)
class KeyLeaf(Structure):
    """A random key."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Static(Structure):
    """A value that belongs to the structure; equal is what nobody can tell apart, so that NaN equals itself."""

    value: object

    @override
    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, Static) and same(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]  # a value may have none


def same(one: object, other: object, /) -> bool:
    """Whether two settings are equal in class and value."""
    return type(one) is type(other) and exact(one) == exact(other)


@dataclass(frozen=True, slots=True)
class Items(Structure):
    """A list, a tuple or a named tuple."""

    cls: type
    parts: tuple[Structure, ...]


@dataclass(frozen=True, slots=True)
class Entries(Structure):
    """A dict."""

    keys: tuple[object, ...]
    parts: tuple[Structure, ...]


@dataclass(frozen=True, slots=True)
class Record(Structure):
    """A dataclass."""

    number: int
    cls: type
    names: tuple[str, ...]
    parts: tuple[Structure, ...]


@dataclass(frozen=True, slots=True)
class Bound(Structure):
    """A function with some of its arguments: a method of an object, or a `functools.partial`."""

    cls: type
    names: tuple[str, ...]
    """The attributes that hold the function and the arguments, in the order in which the class takes them."""
    parts: tuple[Structure, ...]


_BOUND: dict[type, tuple[str, ...]] = {
    MethodType: ("__func__", "__self__"),
    functools.partial: ("func", "args", "keywords"),
}


@dataclass(frozen=True, slots=True)
class Again(Structure):
    """A record that was met before."""

    number: int


@dataclass(frozen=True, slots=True)
class GoesOn(Structure):
    """An object of the last result, in which nothing can have changed: see `moonxi.compiled.going_on`."""

    number: int
    """Of those that are kept of the result."""
    leaves: tuple[tuple[int, int], ...]
    """The numbers of its leaves, each with its place among the outputs that are kept."""


def is_tensor(value: object) -> bool:
    """Whether it is a tensor; of each class the traits are looked up once."""
    cls = value.__class__
    known = _tensor_classes.get(cls)
    if known is None:
        known = _tensor_classes[cls] = not isinstance(value, type) and isinstance(value, Tensor)
    return known


def spec_of(tensor: object) -> Spec:
    """The shape and the element type of a tensor."""
    return Spec(tensor.shape, tensor.dtype)  # type: ignore[attr-defined]  # a tensor has both


_ADVICE: Final = (
    "only tensors, keys, numbers, strings, functions, dataclasses, lists, tuples and dicts go in and out of a compiled "
    "step; make it one of these"
)


def flattened(
    value: object, what: str, leaf: Callable[[object], bool] = is_tensor, *, advice: str = _ADVICE
) -> tuple[Found, Structure]:
    """The leaves and the structure of a value, which ``what`` names in messages; ``leaf`` tells the tensors.

    Raises `CompileError`, with the advice, for an object that is neither looked into nor compared by its value, and
    for what holds itself."""
    found = Found([], [], [])
    numbers: dict[int, int] = {}
    again: dict[int, int] = {}

    def visit(value: object, path: str) -> Structure:
        if leaf(value):
            number = numbers.setdefault(id(value), len(found.leaves))
            if number == len(found.leaves):
                found.leaves.append(value)
            alike = getattr(value, "alike") if hasattr(type(value), "alike") else None  # noqa: B009  # not of all
            return TensorLeaf(number, type(value), spec_of(value), alike)
        if isinstance(value, Key):
            number = numbers.setdefault(id(value), len(found.leaves))
            if number == len(found.leaves):
                found.leaves.append(value)
            return KeyLeaf(number)
        if isinstance(value, _PLAIN) or type(value) is object:
            # An enumeration or a kind of number of the user's has methods, which may read what they like.
            found.functions.append(value if isinstance(value, FunctionType | type) else type(value))
            return Static(value)
        if is_dataclass(value):
            if id(value) in again:
                return Again(again[id(value)])
            number = again[id(value)] = len(found.records)
            found.records.append(value)
            names = attributes(value)
            parts = tuple(visit(getattr(value, name), f"{path}.{name}") for name in names)
            return Record(number, type(value), names, parts)
        if type(value) in _BOUND:
            names = _BOUND[type(value)]
            return Bound(type(value), names, tuple(visit(getattr(value, name), f"{path}.{name}") for name in names))
        if type(value) is list or isinstance(value, tuple):
            found.functions.append(type(value))
            return Items(type(value), tuple(visit(one, f"{path}[{n}]") for n, one in enumerate(value)))
        if type(value) is dict:
            return Entries(tuple(value), tuple(visit(one, f"{path}[{key!r}]") for key, one in value.items()))
        hint = "; of an array x.from_host(array) makes a tensor" if isinstance(value, np.ndarray) else ""
        raise CompileError(f"compile: {path} is of class {type(value).__name__}: {advice}{hint}")

    try:
        return found, visit(value, what)
    except RecursionError:
        raise CompileError(f"compile: {what}: something in there holds itself, or is nested too deeply") from None


def attributes(record: object) -> tuple[str, ...]:
    """The fields of a dataclass that it has, and what else was set on it, less cached properties."""
    names = [one.name for one in fields(record) if hasattr(record, one.name)]  # type: ignore[arg-type]  # a dataclass
    cls = type(record)
    others = [
        name
        for name in getattr(record, "__dict__", {})
        if name not in names and not isinstance(getattr(cls, name, None), functools.cached_property)
    ]
    return (*names, *others)
