"""Uploads beside the work of a device: threads that make batches ahead bring them over while a step runs.

Such a thread wraps what it makes in `Arriving`. A backend whose memory is a device's finds that out by `arrivals`, and
answers with an `Arrival` for each of its uploads. Whoever takes the batch waits for these, on the device alone.
"""

from collections.abc import Callable
from typing import Protocol

from moonxi.thread_setting import ThreadSetting


class Arrival(Protocol):
    """An upload under way."""

    def awaited(self) -> None:
        """Have what the calling thread gives to the device from now on wait for it. Twice is as good as once."""
        ...


_arrivals = ThreadSetting[list[Arrival] | None](None)


def arrivals() -> list[Arrival] | None:
    """Where an upload of this thread is to be written down if it need not be over; None if it must."""
    return _arrivals.value


class Arriving[B]:
    """Something made in this thread whose uploads may still be under way."""

    __slots__ = ("_arrivals", "_made")

    def __init__(self, make: Callable[[], B], /) -> None:
        self._arrivals: list[Arrival] = []
        self._made: list[B] = []
        with _arrivals.within(self._arrivals):
            self._made.append(make())

    def taken(self) -> B:
        """It, for the calling thread, whose further work waits on the device. To be called once."""
        self._wait()
        return self._made.pop()

    def _wait(self) -> None:
        while self._arrivals:
            self._arrivals.pop().awaited()

    def __del__(self) -> None:
        # Nobody has taken it: its memory must not be used for anything else before the uploads are over.
        self._wait()
