"""Recordings: work of a device that is written down once and done again at one call, for whoever repeats a step.

A tensor class of a device that can has a method ``recording``.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable


class Notes(Protocol):
    """What a program says of its operations while they are written down."""

    def start(self, constants: Sequence[object], /) -> None:
        """Called before the first operation, with what is there at each replay, whatever the inputs are."""
        ...

    def mark(self, places: Sequence[int], /) -> None:
        """Called with the places of outputs right before the operation that computes them, and with none after."""
        ...

    def work(
        self, branch: int, operands: Sequence[object], do: Callable[[Sequence[object]], list[object]], /
    ) -> list[object]:
        """The results of an operation, which is done on a branch once its operands are there.

        Operations on different branches may be done at the same time, those on one are done in turn."""
        ...

    def join(self) -> None:
        """From now on everything is done after what was done on any branch; it is called at the end."""
        ...


type Program = Callable[[Sequence[object], Notes], list[object]]
"""From inputs, tensors and keys, to outputs, tensors all: the same operations each time."""


class Recording(Protocol):
    """A program as a device repeats it."""

    def run(self, inputs: Sequence[object], /) -> Sequence[object] | None:
        """The outputs for inputs like those of the first call; None if this call has to be computed in another way."""
        ...

    @property
    def handed(self) -> Mapping[int, int] | None:
        """For inputs that came out before, by which output they do; None before that is known."""
        ...

    def run_on(
        self,
        inputs: Sequence[object],
        rows: Mapping[int, object],
        counts: tuple[int, int],
        keys: Sequence[Sequence[object]],
        /,
    ) -> Sequence[object]:
        """The outputs of the last of several runs, which take from each other what is handed on.

        ``counts`` are how many runs it is, and how many it is going to be in later calls.

        ``inputs`` are those of the first run. By the number of an input, ``rows`` has those of all runs as one tensor,
        one after the other along the first axis. If there are keys among the inputs, ``keys`` has the inputs of each
        run, of which only these are looked at."""
        ...

    @property
    def bytes(self) -> int:
        """The memory that it holds."""
        ...


@runtime_checkable
class WithRecording(Protocol):
    """A tensor of a device that can write down its work."""

    def tuning(self) -> AbstractContextManager[None]:
        """Within, the device tries which of several ways to compute an operation is the fastest, and remembers it."""
        ...

    def recording(
        self, program: Program, outputs: Sequence[object], /, *, branches: int, tuned: bool
    ) -> Recording | None:
        """A recording of the program, made when it is first run; None if there can be none.

        The program uses so many branches, and with ``tuned`` operations as they are within ``tuning``.

        ``outputs`` are those of a first call: what comes in next as it came out then is taken to be handed on from call
        to call, as the parameters of a model are."""
        ...
