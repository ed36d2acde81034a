"""JSON whose types are checked as it is read."""

import json
from dataclasses import dataclass
from math import isfinite


class JsonError(ValueError):
    """A text is not the JSON that was expected; whoever reads it says of which file, by an error of moonxi."""


type Json = bool | int | float | str | list[Json] | dict[str, Json] | None


def number(value: float, /) -> Json:
    """A number as JSON, which has no word for those that are not finite."""
    return value if isfinite(value) else str(value)


def parsed(text: bytes, /) -> Json:
    """What the text says. Raises `JsonError` unless it is JSON, strictly: no NaN, no infinity."""

    def refuse(word: str) -> Json:
        raise ValueError(f"{word} is not JSON")

    try:
        value: Json = json.loads(text.decode(), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise JsonError(f"{error}") from error
    return value


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of JSON, asked for its members by name and type; ``place`` is for the errors.

    Each method raises `JsonError` for a member that is missing or of another type."""

    place: str
    members: dict[str, Json]

    @classmethod
    def of(cls, value: Json, place: str, /) -> "Fields":
        """The object that a value is."""
        if not isinstance(value, dict):
            raise JsonError(f"{place}: expected an object, found {_kind(value)}")
        return cls(place, value)

    def wrong(self, name: str, expected: str, /) -> JsonError:
        """The error for a member that is not as expected."""
        found = _kind(self.members[name]) if name in self.members else "nothing"
        return JsonError(f"{self.place}.{name}: expected {expected}, found {found}")

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

    def flag(self, name: str, /) -> bool:
        """True or false."""
        value = self.members.get(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def texts(self, name: str, /) -> tuple[str, ...]:
        """A list of texts."""
        value = self.members.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, "a list of texts")
        found = tuple(one for one in value if isinstance(one, str))
        if len(found) != len(value):
            raise self.wrong(name, "a list of texts")
        return found

    def fields(self, name: str, /) -> "Fields":
        """An object."""
        if name not in self.members:
            raise self.wrong(name, "an object")
        return Fields.of(self.members[name], f"{self.place}.{name}")

    def listed(self, name: str, /) -> "list[Fields]":
        """A list of objects."""
        value = self.members.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        return [Fields.of(one, f"{self.place}.{name}[{at}]") for at, one in enumerate(value)]

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
