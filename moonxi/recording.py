"""Recordings: work of a device that is written down once and done again at one call, for whoever repeats a step.

A tensor class of a device that can has a method ``recording``.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

type Mark = Callable[[Sequence[int]], None]
"""It is called with the places of outputs right before the operation that computes them, and with none right after."""
type Program = Callable[[Sequence[object], Mark], list[object]]
"""From inputs, tensors and keys, to outputs, tensors all: the same operations each time."""


class Recording(Protocol):
    """A program as a device repeats it."""

    def run(self, inputs: Sequence[object], /) -> list[object] | None:
        """The outputs for inputs like those of the first call; None if this call has to be computed in another way."""
        ...

    @property
    def bytes(self) -> int:
        """The memory that it holds."""
        ...


@runtime_checkable
class WithRecording(Protocol):
    """A tensor of a device that can write down its work."""

    def recording(self, program: Program, outputs: Sequence[object], /, *, tuned: bool) -> Recording | None:
        """A recording of the program, made when it is first run; None if there can be none.

        With ``tuned`` the device may first try which of several ways to compute an operation is the fastest.

        ``outputs`` are those of a first call: what comes in next as it came out then is taken to be handed on from call
        to call, as the parameters of a model are."""
        ...
