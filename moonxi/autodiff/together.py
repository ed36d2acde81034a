"""Several vjps of one result that are computed at once."""

from collections.abc import Callable
from dataclasses import dataclass


class Together[T]:
    """Computes all when the first is asked for."""

    __slots__ = ("_compute", "_found", "_gradient")

    def __init__(self, compute: Callable[[T], tuple[T, ...]]) -> None:
        self._compute = compute
        self._gradient: T | None = None
        self._found: dict[int, T] = {}

    def of(self, gradient: T, number: int) -> T:
        """One of them. Each is given out once, so that none outlives its use."""
        if gradient is not self._gradient or number not in self._found:
            self._gradient = gradient
            self._found = dict(enumerate(self._compute(gradient)))
        found = self._found.pop(number)
        if not self._found:
            self._gradient = None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Share[T]:
    """The vjp of one operand, which names the operation that recorded it."""

    operation: str
    together: Together[T]
    number: int

    def __call__(self, gradient: T, /) -> T:
        return self.together.of(gradient, self.number)
