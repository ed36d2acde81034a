"""Curves of a run: the loss and the named scalars over the epochs."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, override

from moonxi.errors import DataError
from moonxi.sight.pace import Pace
from moonxi.sight.picture import check_can_draw, drawn, format_of, new_figure, write_picture
from moonxi.train import Callback, EpochRecord, History, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_curves(records: Sequence[EpochRecord], path: str | os.PathLike[str], /) -> None:
    """Draw a panel for the loss and for each named scalar, with training and test, to a ``.png`` or ``.svg`` file.

    Raises `DataError` if there are no epochs, if matplotlib is missing or the file cannot be written, and `OptionError`
    for another kind of file."""
    target = Path(path)
    form = format_of("draw_curves", target)
    write_picture("draw_curves", target, drawn(curves(records), form))


class Curves(Callback[object]):
    """Draws the curves of a run: see `draw_curves`. A run of no epoch has none.

    They are drawn anew after each epoch, unless that would take more than a tenth of the time, and at the end, also
    after Ctrl-C. Raises `DataError` before the first step if that will not be possible."""

    def __init__(self, path: str | os.PathLike[str], /) -> None:
        self.path = Path(path)
        format_of("Curves", self.path)
        self._pace = Pace()

    @override
    def on_start(self, run: Run[object], /) -> None:
        check_can_draw("Curves", self.path)

    @override
    def on_epoch(self, run: Run[object], record: EpochRecord, /) -> None:
        if self._pace.due:
            with self._pace.counted():
                draw_curves(run.records, self.path)

    @override
    def on_end(self, run: Run[object], history: History, /) -> None:
        if run.records:
            draw_curves(run.records, self.path)


def curves(records: Sequence[EpochRecord], /) -> "Figure":
    """The figure of `draw_curves`."""
    if not records:
        raise DataError("draw_curves: no epochs: there is nothing to draw")
    names = list(dict.fromkeys(name for record in records for name in (*record.train, *record.test)))
    columns = min(len(names), 3)
    rows = -(-len(names) // columns)
    figure = new_figure("draw_curves", 4.2 * columns, 3.0 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes, name in zip(panels, names, strict=False):
        _panel(axes, name, records)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    return figure


def _panel(axes: "Axes", name: str, records: Sequence[EpochRecord]) -> None:
    from matplotlib.ticker import MaxNLocator

    nowhere = float("nan")  # leaves a gap
    for label, colour, values in (
        ("training", "#2563a8", [record.train.get(name, nowhere) for record in records]),
        ("test", "#c2571a", [record.test.get(name, nowhere) for record in records]),
    ):
        if any(value == value for value in values):  # NaN is the one number that is not itself
            axes.plot([record.epoch + 1 for record in records], values, marker=".", color=colour, label=label)
    axes.set(xlabel="epoch")
    axes.set_title(name, parse_math=False)  # a dollar is a dollar
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.lines:
        axes.legend(frameon=False)
