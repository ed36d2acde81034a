"""The names that a function reads, as its bytecode says: an attribute of the same name is another matter."""

from collections.abc import Iterator
from dataclasses import dataclass
from dis import get_instructions
from functools import cache
from types import CodeType
from typing import Final

_GLOBALS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_WRITES: Final = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_ATTRIBUTES: Final = frozenset({"LOAD_ATTR", "STORE_ATTR", "DELETE_ATTR"})
_SHOWN: Final = frozenset(
    {"print", "input", "open", "write", "writelines", "write_text", "write_bytes"}
    | {"log", "debug", "info", "warning", "warn", "error", "critical", "exception"}
)
_CELLS: Final = frozenset({"LOAD_DEREF", "LOAD_CLOSURE", "LOAD_FROM_DICT_OR_DEREF"})


@dataclass(frozen=True, slots=True)
class Names:
    """What stands in the code of a function and of the functions within it."""

    globals: frozenset[str]
    """Read as global variables, or written to."""
    attributes: frozenset[str]
    imports: frozenset[str]
    """Modules that are imported within."""
    words: frozenset[str]
    """Strings that could be names, as those for ``getattr`` and ``vars``."""
    chains: frozenset[tuple[str, ...]]
    """A variable and the attributes that are read of it one after the other, as far as they follow at once."""

    @property
    def may_show(self) -> bool:
        """Whether something here may print, write or log."""
        return not (self.globals.isdisjoint(_SHOWN) and self.attributes.isdisjoint(_SHOWN))

    def chains_of(self, name: str) -> frozenset[tuple[str, ...]]:
        """The attributes that are read of a variable, or written to."""
        return frozenset(chain[1:] for chain in self.chains if chain[0] == name and len(chain) > 1)

    def hands_on(self, name: str) -> bool:
        """Whether a variable is also used as a whole."""
        return (name,) in self.chains


@cache
def names_in(code: CodeType, /) -> Names:
    """The names in a function."""
    read: set[str] = set()
    attributes: set[str] = set()
    imports: set[str] = set()
    chains: set[tuple[str, ...]] = set()
    words: set[str] = set()
    for one in _codes(code):
        words.update(word for word in one.co_consts if isinstance(word, str) and word.isidentifier())
        chain: tuple[str, ...] = ()
        for instruction in get_instructions(one):
            operation, name = instruction.opname, instruction.argval
            if operation == "IMPORT_NAME":
                imports.add(name)
            if operation in _ATTRIBUTES:
                attributes.add(name)
                chain = (*chain, name) if chain else ()
                continue
            if chain:
                chains.add(chain)
            chain = (name,) if operation in _GLOBALS or operation in _CELLS else ()
            if operation in _GLOBALS or operation in _WRITES:
                read.add(name)
        if chain:
            chains.add(chain)
    return Names(frozenset(read), frozenset(attributes), frozenset(imports), frozenset(words), frozenset(chains))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
