"""Several vjps of one result that are computed at once."""

from collections.abc import Callable


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
