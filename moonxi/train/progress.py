"""How far a run is: a bar on a terminal, where rich is installed, and a line for each epoch everywhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

from moonxi.train.history import EpochRecord
from moonxi.train.memory import memory_in_use

_PAUSE: Final = 0.1  # seconds between two texts


class Bar:
    """The bar of one epoch; without rich or a terminal it shows nothing."""

    def __init__(self, bar: "Progress | None", task: "TaskID | None") -> None:
        self._bar = bar
        self._task = task
        self._next = 0.0

    def advance(self, values: dict[str, float], samples_per_second: float) -> None:
        """One step further."""
        if self._bar is None or self._task is None:
            return
        now = monotonic()
        if now < self._next:  # nobody reads more than a few texts a second
            self._bar.update(self._task, advance=1)
            return
        self._next = now + _PAUSE
        text = f"{numbers(values)}  {samples_per_second:,.0f} samples/s  {memory_in_use()}"
        self._bar.update(self._task, advance=1, numbers=text)


def numbers(values: dict[str, float]) -> str:
    """Named numbers in one line: ``loss 0.1234  accuracy 0.9650``."""
    return "  ".join(f"{name} {value:.4f}" for name, value in values.items())


def line(record: EpochRecord, epochs: int) -> str:
    """An epoch in one line."""
    text = f"epoch {record.epoch + 1}/{epochs}  {numbers(record.train)}"
    if record.test:
        text += f"  |  test {numbers(record.test)}"
    return f"{text}  |  {record.samples_per_second:,.0f} samples/s  {record.seconds:.1f} s"


@contextmanager
def epoch_bar(title: str, steps: int, note: str = "", *, shown: bool) -> Iterator[Bar]:
    """A bar for the steps of one epoch, gone at its end; the note stands there until there are numbers."""
    if not (shown and sys.stderr.isatty()):
        yield Bar(None, None)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield Bar(None, None)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[numbers]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Bar(bar, bar.add_task(title, total=steps, numbers=note))
