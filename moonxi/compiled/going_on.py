"""What goes on from call to call: arguments that are results of the call before, as a model and its optimizer's state.

Nothing of them needs to be looked at again: they are the very objects that were given out, nobody can change them, and
their tensors are the outputs of the last replay.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from itertools import count
from typing import Final, cast

from moonxi.compiled.matching import Matcher, MatcherGoingOn, immutable, matcher_going_on
from moonxi.compiled.structure import (
    Again,
    Bound,
    Entries,
    GoesOn,
    Items,
    KeyLeaf,
    Record,
    Structure,
    TensorLeaf,
    attributes,
)

_TRIES: Final = 3
"""Calls until it is known what goes on."""


type _Picked = Callable[[object], tuple[object, ...]]


class GoingOn:
    """Tells the arguments of a step, and sees what of them are parts of the last result, in the same places each time.

    Of a result nothing is kept but these."""

    def __init__(self, structure: Structure, matches: Matcher) -> None:
        self._structure, self._matches = structure, matches
        self._goes_on: MatcherGoingOn | None = None
        self._parts = self._numbers = _picking([])
        self._kept: tuple[object, ...] = ()
        self._outputs: tuple[object, ...] = ()
        self._tries = _TRIES

    def leaves(self, arguments: object) -> list[object] | None:
        """Those of the arguments in order, or None if they have another structure."""
        if self._goes_on is not None:
            found = self._goes_on(arguments, self._kept, self._outputs) if self._kept else None
            if found is None:
                self._kept = self._outputs = ()  # whoever writes to memory of old results has to know who holds them
                found = self._matches(arguments)
            return found
        found = self._matches(arguments)
        if found is not None and self._kept:
            self._learn(arguments, found)
        return found

    def keep(self, result: object, outputs: Sequence[object]) -> None:
        """Take note of what a call gives."""
        if self._goes_on is not None:
            self._kept, self._outputs = self._parts(result), self._numbers(outputs)
        elif self._tries:
            self._tries -= 1
            self._kept, self._outputs = (result,), tuple(outputs)

    def _learn(self, arguments: object, leaves: Sequence[object]) -> None:
        """Find the parts of the last result among the arguments."""
        there = {id(part): path for path, part in _parts(self._kept[0], "")}
        search = _Search(there, {id(one): number for number, one in enumerate(self._outputs)}, leaves)
        found = search.visit(self._structure, arguments)
        self._kept = self._outputs = ()
        if search.numbers and not _repeats(found):
            self._parts = _picking(search.paths)
            self._numbers = _picking([f"[{number}]" for number in search.numbers])
            self._goes_on = matcher_going_on(found)  # last: an interrupt before leaves nothing that is half there


class _Search:
    """What goes on among the arguments."""

    def __init__(self, there: Mapping[int, str], outputs: Mapping[int, int], leaves: Sequence[object]) -> None:
        self._there, self._outputs, self._given = there, outputs, leaves
        self.paths: list[str] = []
        self.numbers: list[int] = []
        """Of the outputs that are leaves of what goes on."""

    def visit(self, structure: Structure, value: object) -> Structure:
        """The structure of a value with what goes on in the place of the largest parts that do and cannot change."""
        path, numbers = self._there.get(id(value)), list(dict.fromkeys(_leaves(structure)))
        known = [self._outputs.get(id(self._given[number]), -1) for number in numbers]
        if path is not None and -1 not in known and immutable(structure, with_leaves=True):
            first = len(self.numbers)
            self.paths.append(path)
            self.numbers += known
            return GoesOn(len(self.paths) - 1, tuple(zip(numbers, count(first))))
        if isinstance(structure, Items | Entries | Record) and numbers:
            values = [one for _, one in _inside(value)]
            return replace(structure, parts=tuple(map(self.visit, structure.parts, values)))
        return structure


def _parts(value: object, path: str) -> Iterator[tuple[str, object]]:
    """The parts of a result, and what to write behind its name to get them."""
    yield path, value
    for step, part in _inside(value):
        if step:
            yield from _parts(part, path + step)


def _inside(value: object) -> list[tuple[str, object]]:
    """The parts of a value, in the order of its structure; one that cannot be written down has no step."""
    if type(value) is list or isinstance(value, tuple):
        return [(f"[{place}]", part) for place, part in enumerate(value)]
    if type(value) is dict:
        return [(f"[{key!r}]" if type(key) in (str, int) else "", part) for key, part in value.items()]
    if is_dataclass(value) and not isinstance(value, type):
        return [(f".{name}", getattr(value, name)) for name in attributes(value)]
    return []


def _picking(places: Sequence[str]) -> _Picked:
    """What takes out of a value what is in these places."""
    names: dict[str, object] = {}
    exec(f"def pick(value): return ({''.join(f'value{place}, ' for place in places)})", names)
    return cast(_Picked, names["pick"])  # it was written above


def _leaves(structure: Structure) -> Iterator[int]:
    """The numbers of the leaves."""
    if isinstance(structure, TensorLeaf | KeyLeaf):
        yield structure.number
    for part in _within(structure):
        yield from _leaves(part)


def _repeats(structure: Structure) -> bool:
    """Whether a record is met in it that was met before."""
    return isinstance(structure, Again) or any(map(_repeats, _within(structure)))


def _within(structure: Structure) -> tuple[Structure, ...]:
    return structure.parts if isinstance(structure, Items | Entries | Record | Bound) else ()
