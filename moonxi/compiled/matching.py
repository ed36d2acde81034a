"""Whether a value has a known structure: a function written once for the structure, since each call of a step asks."""

from collections.abc import Callable, Sequence
from types import MethodType
from typing import cast

from moonxi.compiled.structure import (
    Again,
    Bound,
    Entries,
    GoesOn,
    Items,
    KeyLeaf,
    Record,
    Static,
    Structure,
    TensorLeaf,
    same,
)
from moonxi.key import Key

type Matcher = Callable[[object], list[object] | None]
"""The leaves of a value in order, or None if it has another structure."""


type MatcherGoingOn = Callable[[object, Sequence[object], Sequence[object]], list[object] | None]
"""The same where parts of the value are objects that were kept of a result; it takes these, and their leaves."""


def matcher(structure: Structure, /) -> Matcher:
    """Tells the values of the structure, in which what is one object is one there, and nothing else is."""
    return cast(Matcher, _written(structure, "value"))


def matcher_going_on(structure: Structure, /) -> MatcherGoingOn:
    """The same for a structure with parts that go on."""
    return cast(MatcherGoingOn, _written(structure, "value, kept, outputs"))


def _written(structure: Structure, parameters: str) -> object:
    writer = _Writer()
    writer.visit(structure, "value")
    lines = [f"def match({parameters}):", "    try:", *(f"        {line}" for line in writer.lines)]
    leaves = [f"t{number}" for number in range(writer.leaves)]
    for names in (leaves, writer.records):
        if len(names) > 1:
            ids = ", ".join(f"id({name})" for name in names)
            lines.append(f"        if len({{{ids}}}) != {len(names)}: return None")
    lines += [f"        return [{', '.join(leaves)}]", "    except AttributeError:", "        return None"]
    exec("\n".join(lines), writer.names)
    return writer.names["match"]


def immutable(structure: Structure, /, *, with_leaves: bool = False) -> bool:
    """Whether an object of the structure can only be the same value as long as it is the same object.

    There are tensors and keys in it only ``with_leaves``."""

    def all_are(parts: tuple[Structure, ...]) -> bool:
        return all(immutable(part, with_leaves=with_leaves) for part in parts)

    match structure:
        case Static() | Again():
            return True
        case TensorLeaf() | KeyLeaf():
            return with_leaves
        case Items(cls, parts):
            return issubclass(cls, tuple) and all_are(parts)
        case Bound(cls, _, parts):
            return cls is MethodType and all_are(parts)
        case Record(_, cls, _, parts):
            return bool(cls.__dict__["__dataclass_params__"].frozen) and all_are(parts)
        case _:
            return False


class _Writer:
    """The lines of a function, and the names in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, object] = {"same": same, "Key": Key}
        self.leaves = 0
        self.records: list[str] = []

    def _named(self, value: object) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def _variable(self, expression: str) -> str:
        name = f"x{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def _refuse_if(self, condition: str) -> None:
        self.lines.append(f"if {condition}: return None")

    def visit(self, structure: Structure, expression: str) -> None:
        """Write down what to ask of the value of an expression."""
        match structure:
            case TensorLeaf(number) | KeyLeaf(number) if number < self.leaves:
                self._refuse_if(f"{expression} is not t{number}")
            case TensorLeaf(number, cls, spec, alike):
                name = self._leaf(number, expression)
                element = ("alike", "!=", alike) if hasattr(cls, "alike") else ("dtype", "is not", spec.dtype)
                attribute, differs, known = element
                self._refuse_if(
                    f"{name}.__class__ is not {self._named(cls)} or {name}.shape != {self._named(spec.shape)} "
                    f"or {name}.{attribute} {differs} {self._named(known)}"
                )
            case GoesOn(number, leaves):
                self._refuse_if(f"{expression} is not kept[{number}]")
                for own, place in leaves:
                    if own < self.leaves:
                        self._refuse_if(f"outputs[{place}] is not t{own}")
                    else:
                        self._leaf(own, f"outputs[{place}]")
            case KeyLeaf(number):
                self._refuse_if(f"{self._leaf(number, expression)}.__class__ is not Key")
            case Static(value):
                known, name = self._named(value), self._variable(expression)
                self._refuse_if(f"{name} is not {known} and not same({name}, {known})")
            case Items(cls, parts):
                name = self._variable(expression)
                self._refuse_if(f"{name}.__class__ is not {self._named(cls)} or len({name}) != {len(parts)}")
                self._visit_parts(parts, name)
            case Entries(keys, parts):
                name = self._variable(expression)
                self._refuse_if(f"{name}.__class__ is not dict or tuple({name}) != {self._named(keys)}")
                self._visit_parts(parts, f"{name}.values()")
            case Record(number, cls, names, parts):
                self.records.append(f"r{number}")
                self.lines.append(f"r{number} = {expression}")
                self._refuse_if(f"r{number}.__class__ is not {self._named(cls)}")
                for attribute, part in zip(names, parts, strict=True):
                    self.visit(part, f"r{number}.{attribute}")
            case Bound(cls, names, parts):
                name = self._variable(expression)
                self._refuse_if(f"{name}.__class__ is not {self._named(cls)}")
                for attribute, part in zip(names, parts, strict=True):
                    self.visit(part, f"{name}.{attribute}")
            case Again(number):
                self._refuse_if(f"{expression} is not r{number}")
            case _:
                raise TypeError(f"no such structure: {type(structure).__name__}")

    def _leaf(self, number: int, expression: str) -> str:
        self.leaves = number + 1
        self.lines.append(f"t{number} = {expression}")
        return f"t{number}"

    def _visit_parts(self, parts: tuple[Structure, ...], expression: str) -> None:
        if not parts:
            return
        start = len(self.lines)
        names = [f"p{start}_{number}" for number in range(len(parts))]
        self.lines.append(f"{''.join(f'{name}, ' for name in names)}= {expression}")
        for part, name in zip(parts, names, strict=True):
            self.visit(part, name)
