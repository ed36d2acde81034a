"""A picture of which classes are taken for which."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from moonxi.errors import OptionError
from moonxi.metrics import ConfusionMatrix
from moonxi.sight.picture import drawn, format_of, new_figure, write_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LARGEST_WITH_NUMBERS = 20
"""Classes up to which there is room for the counts."""


def draw_confusion(
    matrix: ConfusionMatrix, path: str | os.PathLike[str], /, *, names: Sequence[str] | None = None
) -> None:
    """Draw the counts, each cell as dark as its share of the true class, to a ``.png`` or ``.svg`` file.

    Raises `OptionError` for another kind of file and unless there is a name for each class, and `DataError` if
    matplotlib is missing or the file cannot be written."""
    target = Path(path)
    form = format_of("draw_confusion", target)
    write_picture("draw_confusion", target, drawn(confusion(matrix, names), form))


def confusion(matrix: ConfusionMatrix, names: Sequence[str] | None = None, /) -> "Figure":
    """The figure of `draw_confusion`."""
    classes = matrix.classes
    if names is not None and len(names) != classes:
        raise OptionError(f"draw_confusion: {len(names)} names: there are {classes} classes")
    counts = matrix.counts()
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    size = min(2.2 + 0.42 * classes, 12.0)
    figure = new_figure("draw_confusion", size, size)
    axes = figure.subplots()
    axes.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    if classes <= _LARGEST_WITH_NUMBERS:
        labels = list(names) if names is not None else [str(one) for one in range(classes)]
        long = max(map(len, labels)) > 3
        side = "right" if long else "center"
        axes.set_xticks(range(classes), labels, rotation=45 if long else 0, ha=side, parse_math=False)
        axes.set_yticks(range(classes), labels, parse_math=False)  # a dollar in a name is a dollar
        for row, column in zip(*np.nonzero(counts), strict=True):
            colour = "white" if share[row, column] > 0.5 else "black"
            axes.text(column, row, f"{counts[row, column]}", ha="center", va="center", color=colour, fontsize=7)
    axes.set(xlabel="predicted", ylabel="true")
    return figure
