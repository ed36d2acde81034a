"""Settings of the wrong kind, or outside of what they can be: refused in one way and with one text."""

from dataclasses import dataclass
from math import inf
from typing import Final

from moonxi.dims import Dim, provably_less
from moonxi.errors import OptionError


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers between two bounds, and the rule in words; a bound itself is among them unless it is left out."""

    rule: str
    least: float = -inf
    most: float = inf
    without_least: bool = False
    without_most: bool = False

    def __contains__(self, value: float) -> bool:
        if value == self.least:
            return not self.without_least
        if value == self.most:
            return not self.without_most
        return self.least < value < self.most  # which NaN is not


ANY: Final = Range("must be finite", without_least=True, without_most=True)
POSITIVE: Final = Range("must be positive and finite", 0.0, without_least=True, without_most=True)
POSITIVE_OR_INFINITE: Final = Range("must be positive", 0.0, without_least=True)
NOT_NEGATIVE: Final = Range("must be finite and not negative", 0.0, without_most=True)
UNIT: Final = Range("must lie between 0 and 1", 0.0, 1.0)
BELOW_ONE: Final = Range("must be at least 0 and less than 1", 0.0, 1.0, without_most=True)


def is_number(value: object) -> bool:
    """Whether it is a Python number, which a truth value is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether it is a whole Python number, which a truth value is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def numbers(owner: str, within: Range, /, **settings: float) -> None:
    """Raise `OptionError` unless each setting is a Python number within the range; ``owner`` is who has them."""
    for name, value in settings.items():
        if not is_number(value):
            raise OptionError(f"{owner}: {name}={value!r}: expected a Python number")
        if value not in within:
            raise OptionError(f"{owner}: {name}={value}: {within.rule}")


def whole(owner: str, least: int, /, **settings: int) -> None:
    """Raise `OptionError` unless each setting is a whole Python number from ``least`` on, or a symbolic size."""
    for name, value in settings.items():
        size: object = value
        if not is_whole(size) and not isinstance(size, Dim):
            raise OptionError(f"{owner}: {name}={value!r}: expected a whole Python number")
        if provably_less(value, least):
            raise OptionError(f"{owner}: {name}={value}: must be at least {least}")


def flags(owner: str, /, **settings: bool) -> None:
    """Raise `OptionError` unless each setting is True or False: a text such as "no" would be true."""
    for name, value in settings.items():
        if not isinstance(value, bool):
            raise OptionError(f"{owner}: {name}={value!r}: expected True or False")
