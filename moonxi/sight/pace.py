"""`Pace`: how often something slow is done beside the training."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SHARE: Final = 10.0


class Pace:
    """Keeps what is done from time to time to a tenth of the time: that after each epoch pictures are drawn, say."""

    def __init__(self) -> None:
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time again."""
        return time.perf_counter() >= self._next

    @contextmanager
    def counted(self) -> Iterator[None]:
        """What is done within counts; it is due again when ten times as long has gone by."""
        start = time.perf_counter()
        yield
        end = time.perf_counter()
        self._next = end + _SHARE * (end - start)
