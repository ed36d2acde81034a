"""`Outline`: what a model is besides its tensors, found once for all models that are made from one.

A model is a value, and training makes one after another that differ in their tensors alone. Of a model that consists of
frozen dataclasses and tuples, which nobody changes, the outline is remembered, and its tensors; any other model is
looked through each time.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple
from weakref import ref

from moonxi.identity import identity
from moonxi.nn.frozen import is_frozen
from moonxi.nn.kinds import Kind, besides_fields, field_names, is_tensor, kind_of
from moonxi.nn.state import State
from moonxi.traits import Tensor

type _Make = Callable[[Sequence[Tensor], Sequence[State[Tensor]], Sequence[object]], object]
"""From parameters, state fields and what stays to a model."""


class Outline:
    """How a model is made of its parameters and state fields, and their paths; what is tied is one."""

    __slots__ = ("_constants", "_lines", "_make", "held", "order", "places", "trained")

    def __init__(
        self, places: Sequence[tuple[str, bool, int]], lines: Sequence[str], constants: Sequence[object]
    ) -> None:
        self.places = places
        """Every path, in the order of the fields, with whether a state field stands there, and its number or that of
        the parameter."""
        first: dict[tuple[bool, int], str] = {}
        for path, is_state, number in places:
            first.setdefault((is_state, number), path)
        self.order = list(first)
        """What comes one after the other, each at its first path."""
        self.trained = [first[one] for one in self.order if not one[0]]
        """The first path of each parameter."""
        self.held = [first[one] for one in self.order if one[0]]
        """The same of the state fields."""
        self._lines, self._constants = lines, constants
        self._make: _Make | None = None

    def filled(self, parameters: Sequence[Tensor], states: Sequence[State[Tensor]], /) -> object:
        """The model with these contents, which is remembered."""
        if self._make is None:
            self._make = _compiled(tuple(self._lines))
        model = self._make(parameters, states, self._constants)
        _remember(model, self, parameters, states)
        return model


@cache
def _compiled(lines: tuple[str, ...]) -> _Make:
    """The function that makes a model. Its text names nothing of the model but its fields."""
    names: dict[str, Callable[..., object]] = {"new": object.__new__, "put": object.__setattr__, "of": tuple.__new__}
    exec("\n    ".join(("def make(parameters, states, constants):", *lines)), names)
    return names["make"]


class Known(NamedTuple):
    """What is remembered of a model, for as long as it lives."""

    model: ref[object]
    outline: Outline
    parameters: Sequence[Tensor]
    states: Sequence[State[Tensor]]


_known: dict[int, Known] = {}
"""By the identity of the model."""
_others: set[type] = set()
"""Classes of which a model with a list in it, or the like, was met."""


def known(model: object, /) -> Known | None:
    """The outline of a model and what is in it; None for a model that can be changed."""
    found = _known.get(identity(model))
    if found is None and model.__class__ not in _others:
        try:
            search = _Search()
            root = search.part(model, "")
            found = _remember(model, search.outline(root, model), search.parameters, search.states)
        except (_NotFixed, RecursionError):
            pass
        if found is None:
            _others.add(type(model))
    return found


def _remember(
    model: object, outline: Outline, parameters: Sequence[Tensor], states: Sequence[State[Tensor]]
) -> Known | None:
    key, forget = identity(model), _known.pop  # bound here: models outlive this module when Python ends
    try:
        there = ref(model, lambda _: forget(key, None))
    except TypeError:  # a tuple, or a class with slots
        return None
    found = _known[key] = Known(there, outline, parameters, states)
    return found


class _NotFixed(Exception):
    """A part of the model can be changed, or is more than a record of its fields."""


class _Search:
    """One walk through a model that nobody has seen yet. What holds tensors is written down as a Python expression."""

    def __init__(self) -> None:
        self.parameters: list[Tensor] = []
        self.states: list[State[Tensor]] = []
        self._numbers: dict[int, int] = {}  # of both, by identity
        self._records: dict[int, str] = {}  # what is tied has one name
        self._places: list[tuple[str, bool, int]] = []
        self._lines: list[str] = []
        self._constants: list[object] = []

    def part(self, value: object, path: str) -> str | None:
        """The expression for a part of the model; None if it holds no tensor."""
        kind = kind_of(value, path)
        if kind is Kind.PLAIN or kind is Kind.SETTING:
            return None
        if is_tensor(value):
            number = self._number(value, self.parameters)
            self._places.append((path, False, number))
            return f"parameters[{number}]"
        if isinstance(value, State):
            number = self._number(value, self.states)
            self._places.append((path, True, number))
            return f"states[{number}]"
        if kind is Kind.RECORD and is_frozen(type(value)) and not besides_fields(value):
            prefix = f"{path}." if path else ""
            fields = {name: getattr(value, name) for name in field_names(value)}
            return self._record(value, fields, [self.part(one, prefix + name) for name, one in fields.items()])
        if isinstance(value, tuple):
            parts = [self.part(one, f"{path}[{number}]") for number, one in enumerate(value)]
            if any(parts):
                items = "".join(f"{part or self._constant(one)}, " for part, one in zip(parts, value, strict=True))
                return self._named(
                    f"({items})" if type(value) is tuple else f"of({self._constant(type(value))}, ({items}))"
                )
            return None
        raise _NotFixed

    def _number[C](self, value: C, found: list[C]) -> int:
        """That of a parameter or a state field among those that were found, and now it is one of them."""
        number = self._numbers.setdefault(identity(value), len(found))
        if number == len(found):
            found.append(value)
        return number

    def _record(self, value: object, fields: dict[str, object], parts: list[str | None]) -> str | None:
        """A dataclass; one that stands in several places is made once."""
        if not any(parts):
            return None
        if identity(value) not in self._records:
            record = self._records[identity(value)] = self._named(f"new({self._constant(type(value))})")
            for (name, one), part in zip(fields.items(), parts, strict=True):
                self._lines.append(f"put({record}, {name!r}, {part or self._constant(one)})")
        return self._records[identity(value)]

    def _named(self, expression: str) -> str:
        name = f"part_{len(self._lines)}"
        self._lines.append(f"{name} = {expression}")
        return name

    def _constant(self, value: object) -> str:
        self._constants.append(value)
        return f"constants[{len(self._constants) - 1}]"

    def outline(self, root: str | None, model: object) -> Outline:
        """What was found."""
        return Outline(self._places, [*self._lines, f"return {root or self._constant(model)}"], self._constants)
