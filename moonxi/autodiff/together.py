"""Several vjps of one result that are computed at once."""

from collections.abc import Callable
from dataclasses import dataclass


class Together[T]:
    """Computes all when the first is asked for."""

    __slots__ = ("_compute", "_found", "_gradient", "_left")

    def __init__(self, compute: Callable[[T], tuple[T, ...]]) -> None:
        self._compute = compute
        self._gradient: T | None = None
        self._found: list[T | None] = []
        self._left = 0

    def of(self, gradient: T, number: int) -> T:
        """One of them. Each is given out once, so that none outlives its use."""
        found = self._found[number] if gradient is self._gradient else None
        if found is None:
            every = self._compute(gradient)
            self._gradient, self._left = gradient, len(every)
            self._found = [*every]
            found = every[number]
        self._found[number] = None
        self._left -= 1
        if not self._left:
            self._gradient, self._found = None, []
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Share[T]:
    """The vjp of one operand, which names the operation that recorded it."""

    operation: str
    together: Together[T]
    number: int

    def __call__(self, gradient: T, /) -> T:
        return self.together.of(gradient, self.number)
