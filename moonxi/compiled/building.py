"""A value of a known structure around other leaves: a function written once for the structure, as each step ends so."""

import functools
from collections.abc import Callable, Sequence
from types import MethodType
from typing import cast

from moonxi.compiled.structure import Again, Bound, Entries, Items, KeyLeaf, Record, Static, Structure, TensorLeaf

type Builder = Callable[[Sequence[object]], object]
"""From the leaves in order to the value. A dataclass is built without its ``__init__``."""


def builder(structure: Structure, /) -> Builder:
    """Makes values of the structure, in which what is one object was one."""
    writer = _Writer()
    result = writer.visit(structure)
    lines = "\n    ".join([*writer.lines, f"return {result}"])
    exec(f"def build(leaves):\n    {lines}", writer.names)
    return cast(Builder, writer.names["build"])


class _Writer:
    """The lines of a function, and the names in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, object] = {
            "new": object.__new__,
            "put": object.__setattr__,
            "new_tuple": tuple.__new__,
            "method": MethodType,
            "partial": functools.partial,
        }

    def _named(self, value: object) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def visit(self, structure: Structure) -> str:
        """An expression for the value; what has to be done before it is written down."""
        match structure:
            case TensorLeaf(number) | KeyLeaf(number):
                return f"leaves[{number}]"
            case Static(value):
                return self._named(value)
            case Items(cls, parts):
                inside = "".join(f"{self.visit(part)}, " for part in parts)
                if cls is list or cls is tuple:
                    return f"[{inside}]" if cls is list else f"({inside})"
                return f"new_tuple({self._named(cls)}, ({inside}))"
            case Entries(keys, parts):
                entries = [f"{self._named(key)}: {self.visit(part)}" for key, part in zip(keys, parts, strict=True)]
                return f"{{{', '.join(entries)}}}"
            case Bound(cls, _, parts):
                function, *bound = [self.visit(part) for part in parts]
                if cls is MethodType:
                    return f"method({function}, {bound[0]})"
                return f"partial({function}, *{bound[0]}, **{bound[1]})"
            case Record(number, cls, names, parts):
                self.lines.append(f"r{number} = new({self._named(cls)})")
                for name, part in zip(names, parts, strict=True):
                    self.lines.append(f"put(r{number}, {name!r}, {self.visit(part)})")
                return f"r{number}"
            case Again(number):
                return f"r{number}"
            case _:
                raise TypeError(f"no such structure: {type(structure).__name__}")
