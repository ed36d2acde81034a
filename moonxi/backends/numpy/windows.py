"""Where the taps of a window meet an image: the loops of convolution and pooling go over taps, never over pixels."""

from collections.abc import Iterator
from dataclasses import replace

from moonxi.shapes import Window

type Part = tuple[slice, slice]
"""Rows and columns."""


def taps(rows: Window[int], columns: Window[int]) -> Iterator[tuple[int, int, Part, Part]]:
    """Every tap of the kernel that meets the image: its row and column, the places where it does, the pixels there."""
    across = [(tap, *met) for tap in range(columns.kernel) if (met := meeting(columns, tap)) is not None]
    for row in range(rows.kernel):
        down = meeting(rows, row)
        if down is not None:
            for column, places, pixels in across:
                yield row, column, (down[0], places), (down[1], pixels)


def meeting(window: Window[int], tap: int) -> tuple[slice, slice] | None:
    """The places where a tap lies on the axis, not on the padding, and the elements it lies on; None if nowhere."""
    offset = tap * window.dilation - window.before
    first = max(0, -(offset // window.stride))
    last = min(window.count, (window.size - 1 - offset) // window.stride + 1)
    if first >= last:
        return None
    start = first * window.stride + offset
    return slice(first, last), slice(start, start + (last - first - 1) * window.stride + 1, window.stride)


def cropped(window: Window[int]) -> tuple[Window[int], slice]:
    """The window without the outer taps that never meet the axis, and the part of the kernel that is left."""
    met = [tap for tap in range(window.kernel) if meeting(window, tap) is not None]
    part = slice(met[0], met[-1] + 1) if met else slice(0, 0)
    before = window.before - part.start * window.dilation
    return replace(window, kernel=part.stop - part.start, before=before), part
