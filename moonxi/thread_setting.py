"""A value that each thread has for itself, and that is another one within a block."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ThreadSetting[V](threading.local):
    """``value`` is in each thread the one it is made with, until `within` gives another."""

    def __init__(self, value: V, /) -> None:
        self.value = value

    @contextmanager
    def within(self, value: V, /) -> Iterator[None]:
        """Have this thread find ``value`` within the block, and then again what it found before."""
        before, self.value = self.value, value
        try:
            yield
        finally:
            self.value = before
