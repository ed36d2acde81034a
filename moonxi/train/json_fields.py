"""JSON whose types are checked as it is read."""

import json
from dataclasses import dataclass
from math import isfinite

from moonxi.errors import CheckpointError

type Json = bool | int | float | str | list[Json] | dict[str, Json] | None


def number(value: float, /) -> Json:
    """A number as JSON, which has no word for those that are not finite."""
    return value if isfinite(value) else str(value)


def parsed(text: bytes, source: str, /) -> Json:
    """What the text says. Raises `CheckpointError` unless it is JSON, strictly: no NaN, no infinity."""

    def refuse(word: str) -> Json:
        raise ValueError(f"{word} is not JSON")

    try:
        value: Json = json.loads(text.decode(), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"checkpoint: {source}: damaged, or not a manifest: {error}") from error
    return value


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of JSON, asked for its members by name and type; ``source`` and ``place`` are for the errors.

    Each method raises `CheckpointError` for a member that is missing or of another type."""

    source: str
    place: str
    members: dict[str, Json]

    @classmethod
    def of(cls, value: Json, source: str, place: str, /) -> "Fields":
        """The object that a value is."""
        if not isinstance(value, dict):
            raise CheckpointError(f"checkpoint: {source}: {place}: expected an object, found {_kind(value)}")
        return cls(source, place, value)

    def wrong(self, name: str, expected: str, /) -> CheckpointError:
        """The error for a member that is not as expected."""
        found = _kind(self.members[name]) if name in self.members else "nothing"
        return CheckpointError(f"checkpoint: {self.source}: {self.place}.{name}: expected {expected}, found {found}")

    def value(self, name: str, /) -> Json:
        """A member of any type."""
        if name not in self.members:
            raise self.wrong(name, "a value")
        return self.members[name]

    def count(self, name: str, /) -> int:
        """A whole number from 0 to 2**64 - 1."""
        value = self.members.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**64:
            raise self.wrong(name, "a whole number, not negative")
        return value

    def number(self, name: str, /) -> float:
        """A number, or the name of one that is not finite."""
        value = self.members.get(name)
        if value in ("nan", "inf", "-inf"):
            return float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(name, "a number")
        try:
            return float(value)
        except OverflowError:
            raise self.wrong(name, "a number that a float can hold") from None

    def text(self, name: str, /) -> str:
        """A text."""
        value = self.members.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a text")
        return value

    def fields(self, name: str, /) -> "Fields":
        """An object."""
        if name not in self.members:
            raise self.wrong(name, "an object")
        return Fields.of(self.members[name], self.source, f"{self.place}.{name}")

    def listed(self, name: str, /) -> "list[Fields]":
        """A list of objects."""
        value = self.members.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        return [Fields.of(one, self.source, f"{self.place}.{name}[{at}]") for at, one in enumerate(value)]

    def numbers(self, name: str, /) -> dict[str, float]:
        """An object whose members are numbers."""
        inner = self.fields(name)
        return {key: inner.number(key) for key in inner.members}


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return "a number"
        case str():
            return f"the text {value[:40]!r}"
        case list():
            return "a list"
        case _:
            return "an object"
