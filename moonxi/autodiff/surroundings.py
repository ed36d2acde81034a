"""What a computation depends on besides its arguments, such as where in a model it is: for doing it once more."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Surroundings(Protocol):
    """What stood around a computation when it began."""

    def settled(self) -> None:
        """Is told that the computation is over, and its graph to be let go."""

    def again(self) -> AbstractContextManager[object]:
        """All as it was, for as long as the computation is done once more; nothing of that remains."""


_remembered: list[Callable[[], Surroundings]] = []


def remember[F: Callable[[], Surroundings]](begin: F, /) -> F:
    """Have ``begin`` called before each computation that may be done once more. A decorator."""
    _remembered.append(begin)
    return begin


def begun() -> list[Surroundings]:
    """The surroundings of a computation that begins now."""
    return [begin() for begin in _remembered]
