"""What a step reads besides its arguments: variables of the functions around it, globals, defaults.

Their values are a part of what a traced graph is good for, as shapes are: where one has changed, the step is traced
anew. A tensor among them is refused, and so is an object that cannot be compared by its value.
"""

import builtins
import inspect
import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cached_property, partial
from types import FunctionType, MappingProxyType, MethodType, ModuleType, NoneType
from typing import Final, cast

import numpy as np

from moonxi.compiled.matching import Matcher, immutable, matcher
from moonxi.compiled.names import Names, names_in
from moonxi.compiled.structure import Found, Structure, flattened, is_tensor
from moonxi.errors import CompileError
from moonxi.key import Key

_FRAMEWORK = frozenset({"moonxi", "numpy", "jaxtyping", "beartype"})
_OF_THE_PROCESS = (
    (os.environ, "the environment"),
    (os.getenv, "the environment"),
    (sys.argv, "the command line"),
    (sys.modules, "the table of modules"),
)
"""What no graph can be good for, as it is no part of the program."""

_ADVICE: Final = (
    "the step reads it from outside, and from call to call it has no value to compare; make it a frozen dataclass, or "
    "pass what the step needs of it as an argument"
)
_DATA: Final = (NoneType, bytes, complex, list, dict, set, frozenset, np.ndarray, np.generic, Key)


@dataclass(frozen=True, slots=True)
class Place:
    """Something that is read: what it is called, how to read it again, and what stood there."""

    name: str
    function: Callable[..., object]
    arguments: tuple[object, ...]
    seen: object
    """The object itself, if ``is_enough``: as long as it is there nothing has changed."""
    is_enough: bool
    matches: Matcher

    def changed(self) -> bool:
        """Whether something else stands there now."""
        now = self.function(*self.arguments)
        return not (self.is_enough and now is self.seen) and self.matches(now) is None


class Surroundings:
    """All that a step reads besides its arguments."""

    def __init__(self, places: Sequence[Place], may_show: bool) -> None:
        self.may_show = may_show
        """Whether a function of the user may print, write or log: see `moonxi.compiled.effects`."""
        self._places = places
        self._are_same = _comparing([place for place in places if place.is_enough])
        self._others = [place for place in places if not place.is_enough]

    def match(self) -> bool:
        """Whether everything is as it was."""
        if self._are_same():
            return not self._others or not any(place.changed() for place in self._others)
        return not self.changed()

    def changed(self) -> list[str]:
        """The names of what is not as it was."""
        return [place.name for place in self._places if place.changed()]


def _comparing(places: Sequence[Place]) -> Callable[[], bool]:
    """Tells whether the same objects are there, by a function written once for the places: each call of a step asks."""
    names: dict[str, object] = {}
    terms = []
    for number, place in enumerate(places):
        given = [f"a{number}_{argument}" for argument in range(len(place.arguments))]
        names |= dict(zip(given, place.arguments, strict=True))
        names |= {f"read{number}": place.function, f"seen{number}": place.seen}
        read = f"read{number}({', '.join(given)})"
        if place.function is getattr and len(given) == 2 and str(place.arguments[1]).isidentifier():
            read = f"{given[0]}.{place.arguments[1]}"  # which is sooner done
        terms.append(f"{read} is seen{number}")
    exec(f"def are_same(): return {' and '.join(terms) or True}", names)
    return cast(Callable[[], bool], names["are_same"])  # it was written above


def surroundings_of(roots: list[object], brought: list[object]) -> Surroundings:
    """What functions read, and what those read that they call; ``brought`` are functions and classes of arguments.

    Raises `CompileError` for what can be no part of a key."""
    found: dict[object, Place] = {}
    seen: dict[int, object] = {}
    asked: set[str] = set()
    waiting = [*roots, *(one for value in brought for one in _leads_to(value))]

    def note(readings: Iterable[_Reading]) -> None:
        for name, place, (function, arguments) in readings:
            if place in found:
                continue
            value = function(*arguments)
            _refuse_of_the_process(value, name)
            met, structure = _compared(value, name)
            is_enough = immutable(structure)
            found[place] = Place(name, function, arguments, value if is_enough else None, is_enough, matcher(structure))
            for other in [*met.functions, value, *map(type, met.records)]:
                waiting.extend(_leads_to(other))

    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            if isinstance(one, FunctionType):
                asked |= names_in(one.__code__).attributes | names_in(one.__code__).words
            waiting.extend(_functions_within(one))
            note(_read_by(one))
        if not waiting:  # it is known what is asked for by now
            note(reading for cls in [*seen.values()] for reading in _data_of(cls, asked))
    may_show = any(isinstance(one, FunctionType) and names_in(one.__code__).may_show for one in seen.values())
    return Surroundings([*found.values()], may_show)


def _refuse_of_the_process(value: object, name: str) -> None:
    for known, what in _OF_THE_PROCESS:
        if value is known:
            raise CompileError(
                f"compile: {name}: the step reads {what}, which a replay would not read again; read it outside of the "
                "step and pass what it says as an argument"
            )


def _compared(value: object, name: str) -> tuple[Found, Structure]:
    met, structure = flattened(value, name, advice=_ADVICE)
    if any(map(is_tensor, met.leaves)):
        raise CompileError(
            f"compile: {name} is or holds a tensor that the step reads from outside: a graph would keep the value that "
            "it had at the first call; pass it to the step as an argument"
        )
    if any(isinstance(leaf, Key) for leaf in met.leaves):
        raise CompileError(
            f"compile: {name} is or holds a random key that the step reads from outside: each call would draw the same "
            "numbers; pass the key to the step as an argument"
        )
    return met, structure


def _leads_to(value: object) -> Iterator[object]:
    """Functions and classes of the user that a value brings along: of a function with a wrapper both."""
    while isinstance(value, FunctionType):
        if _is_users(value):
            yield value
        for registered in _registered(value):
            yield from _leads_to(registered)
        value = getattr(value, "__wrapped__", None)
    if isinstance(value, type) and is_users_module(value.__module__ or ""):
        yield value


def _registered(value: object) -> tuple[object, ...]:
    """The functions among which ``functools.singledispatch`` chooses, and the classes they are for."""
    registry = getattr(value, "registry", None)
    return (*registry, *registry.values()) if isinstance(registry, MappingProxyType) else ()


def _is_users(function: FunctionType) -> bool:
    # A wrapper often has the name of another's module, and what `dataclass` adds has that of the user's.
    return all(is_users_module(str(name)) for name in (function.__module__, function.__globals__.get("__name__")))


def is_users_module(name: str) -> bool:
    """Whether a module is neither of a package that is installed nor of Python's library."""
    root = name.partition(".")[0]
    if root in _FRAMEWORK or (root in sys.stdlib_module_names and root != "__main__"):
        return False
    return "site-packages" not in (getattr(sys.modules.get(name), "__file__", None) or "")


def _functions_within(cls: object) -> Iterator[object]:
    """The functions in the members of a class and its bases: methods, and those of properties."""
    for base in _users_bases(cls):
        for name in vars(base):
            yield from _leads_to(_member(base, name))


def _member(cls: type, name: str) -> object:
    """What stands in a class: of methods and properties of every kind the function."""
    member = vars(cls).get(name)
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    return member.__func__ if isinstance(member, staticmethod | classmethod) else member


def _users_bases(cls: object) -> list[type]:
    return [base for base in cls.__mro__ if is_users_module(base.__module__)] if isinstance(cls, type) else []


def _is_noted(cls: type, name: str) -> bool:
    """Whether an attribute of a class is what moonxi has found out about it, and no setting."""
    return name.startswith("_") and any(
        name in vars(base) for base in cls.__mro__ if base.__module__.partition(".")[0] in _FRAMEWORK
    )


type _Read = tuple[Callable[..., object], tuple[object, ...]]
type _Reading = tuple[str, object, _Read]
"""A name for messages, something that only the same place has, and how to read it again: a function and arguments."""


def _members_read(cls: object, wanted: Callable[[type, str, object], bool]) -> Iterator[_Reading]:
    """What stands in a class and its bases under names of the user's, as far as it is wanted."""
    for base in _users_bases(cls):
        for name in vars(base):
            member = _member(base, name)
            if name.startswith("__") or _is_noted(base, name) or not wanted(base, name, member):
                continue
            plain = vars(base)[name] is member  # which is soonest read again
            read: _Read = (vars(base).get, (name,)) if plain else (_member, (base, name))
            yield f"{base.__name__}.{name}", (base, name), read


def _data_of(cls: object, asked: set[str]) -> Iterator[_Reading]:
    """What in a class may be anything, a tensor too, and so is looked at only if something has its name."""
    return _members_read(cls, lambda base, name, member: name in asked and _is_data(member, base))


def _is_data(member: object, holder: object) -> bool:
    if isinstance(member, Enum):  # an enumeration has its own members
        return type(member) is not holder
    return isinstance(member, _DATA) or is_tensor(member)


def _read_by(one: object) -> Iterator[_Reading]:
    """What a function reads; of a class its settings and methods."""
    yield from _members_read(one, lambda base, name, member: _plain(member) and not isinstance(member, Enum))
    if not isinstance(one, FunctionType):
        return
    where = f"of {one.__qualname__}"
    names = names_in(one.__code__)
    built_in = names.globals - one.__globals__.keys()
    for function in sorted({"eval", "exec", "__import__"} & built_in):
        raise CompileError(
            f"compile: {one.__qualname__} calls {function}: what that reads cannot be looked up, and a replay would "
            "not read it again; call it outside of the step"
        )
    yield f"the code {where}", (id(one), "code"), (getattr, (one, "__code__"))
    for module in sorted(filter(is_users_module, names.imports)):
        raise CompileError(
            f"compile: {one.__qualname__} imports {module or 'a module'}: a replay would not read it again; import it "
            "at the top of the file, where what the step reads of it is looked up"
        )
    for variable, cell in zip(one.__code__.co_freevars, one.__closure__ or (), strict=True):
        value = getattr(cell, "cell_contents", None)
        if isinstance(value, ModuleType):
            yield from _read_of_module(value, variable, names)
        elif variable != "__class__":
            yield f"{variable} {where}", id(cell), (getattr, (cell, "cell_contents", None))
            yield from _read_of_object(value, variable, names)
    if one.__defaults__:
        yield f"defaults {where}", (id(one), "defaults"), (getattr, (one, "__defaults__"))
    if one.__kwdefaults__:
        yield f"keyword defaults {where}", (id(one), "keyword defaults"), (getattr, (one, "__kwdefaults__"))
    read = built_in - vars(builtins).keys() | names.globals & one.__globals__.keys()
    if "globals" in built_in:
        read |= names.words & one.__globals__.keys()
    for name in sorted(read):
        value = one.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from _read_of_module(value, name, names)
        else:
            yield f"{name} of {one.__module__}", (id(one.__globals__), name), (one.__globals__.get, (name,))
            yield from _read_of_object(value, name, names)


def _read_of_object(value: object, name: str, names: Names) -> Iterator[_Reading]:
    """What a function reads of, or writes to, a function or a class of the user."""
    if _registered(value):
        yield f"registrations of {name}", (id(value), "registered"), (_registered, (value,))
    if not isinstance(value, FunctionType | type) or value not in _leads_to(value):
        return
    for attribute in sorted({chain[0] for chain in names.chains_of(name) if not chain[0].startswith("__")}):
        member = getattr(value, attribute, None)
        if _is_data(member, value) or (_plain(member) and not isinstance(member, FunctionType)):
            yield f"{name}.{attribute}", (value, attribute), (getattr, (value, attribute, None))


def _read_of_module(module: ModuleType, name: str, names: Names) -> Iterator[_Reading]:
    """What a function reads of a module, and of modules within it; of those of others only what is plainly a value.

    Where the module is also handed on, it may be any attribute in the function that has a value to compare."""
    if module.__name__.partition(".")[0] in _FRAMEWORK:
        return
    chains = set(names.chains_of(name))
    if names.hands_on(name) or ("__dict__",) in chains:
        chains |= {(one,) for one in names.attributes | names.words if _plain(vars(module).get(one))}
    for chain in sorted(chains):
        holder, path = module, name
        for attribute in chain:
            value = vars(holder).get(attribute)
            path = f"{path}.{attribute}"
            if isinstance(value, ModuleType):
                if value.__name__.partition(".")[0] in _FRAMEWORK:
                    break
                holder = value
                continue
            _refuse_of_the_process(value, path)
            if _plain(value) or is_users_module(holder.__name__):
                yield path, (id(vars(holder)), attribute), (vars(holder).get, (attribute,))
            break


def _plain(value: object) -> bool:
    return isinstance(value, bool | int | float | str | FunctionType | type | tuple) or is_dataclass(value)


def function_of(step: Callable[..., object]) -> tuple[list[object], tuple[object, ...], Callable[..., object]]:
    """The roots of a step, the objects that it is bound to, which are arguments, and what is called with them first."""
    if isinstance(step, MethodType):
        return [inspect.unwrap(step.__func__)], (step.__self__,), step.__func__
    if isinstance(step, partial):
        roots, bound, function = function_of(step.func)
        if step.keywords:  # which names at the call may take the place of: it is an argument itself
            return roots, (step,), operator.call
        return roots, (*bound, *step.args), function
    if isinstance(step, FunctionType):
        return [inspect.unwrap(step)], (), step
    call = type(step).__call__
    return [call], (step,), call
