"""What a computation depends on besides its arguments, such as where in a model it is: for doing it once more."""

from collections.abc import Callable
from contextlib import AbstractContextManager

type Again = Callable[[], AbstractContextManager[object]]
"""Brings all back as it was, for as long as a computation is done once more; nothing of that remains."""

_remembered: list[Callable[[], Again]] = []


def remember(begin: Callable[[], Again], /) -> Callable[[], Again]:
    """Have ``begin`` called before each computation that may be done once more. A decorator."""
    _remembered.append(begin)
    return begin


def begun() -> list[Again]:
    """The surroundings of a computation that begins now."""
    return [begin() for begin in _remembered]
