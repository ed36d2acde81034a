"""Convolutions with a single place, such as 3 x 3 with padding over one pixel, as products of matrices.

Most taps of such a kernel only ever see padding, and are left out. Everything lies with the channels last, so that what
a row of taps sees is a row of a matrix. Images are ``(batch, channels, height, width)``.
"""

from typing import NamedTuple

from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.products import multiply
from moonxi.shapes import Conv2d, Window

_ROWS = 3
"""Rows of taps, from which on a plan of cuDNN does better."""


class Seen(NamedTuple):
    """The taps that see pixels: so many rows of so many columns, from these on in the kernel and in the image."""

    rows: int
    columns: int
    tap: tuple[int, int]
    pixel: tuple[int, int]


def seen(conv: Conv2d[int]) -> Seen | None:
    """The taps of a convolution with one place and one group, if they are few; None for others."""
    windows = (conv.rows, conv.columns)
    if conv.groups != 1 or any(window.count != 1 or window.dilation != 1 for window in windows):
        return None
    (top, rows), (left, columns) = map(_taps, windows)
    if not 1 <= rows <= _ROWS or columns < 1:
        return None
    return Seen(rows, columns, (top, left), (top - conv.rows.before, left - conv.columns.before))


def _taps(window: Window[int]) -> tuple[int, int]:
    """The first tap that sees a pixel, and how many do."""
    first = max(0, window.before)
    return first, min(window.kernel, window.before + window.size) - first


def sums_once(space: Space, taps: Seen) -> bool:
    """Whether a result is rounded once: each row of taps is added to what those before gave."""
    return taps.rows == 1 or space.itemsize >= 4


def result(space: Space, x: DeviceArray, weight: DeviceArray, y: DeviceArray, conv: Conv2d[int], taps: Seen) -> None:
    """The result, row of taps by row of taps."""
    out = _vectors(y, conv.outputs)
    for row in range(taps.rows):
        kernel = _kernel(weight, conv, taps, row, 1)
        right = kernel.view((1, kernel.shape[2], conv.outputs), (0, 1, kernel.strides[1]))
        multiply(space, _pixels(x, conv, taps, row, 1), right, out, add=row > 0)


def input_grad(
    space: Space, dy: DeviceArray, weight: DeviceArray, dx: DeviceArray, conv: Conv2d[int], taps: Seen
) -> None:
    """The gradient of the images; pixels that no tap sees get 0."""
    if (taps.rows, taps.columns) != (conv.rows.size, conv.columns.size):
        _clear(space, dx)
    left = _vectors(dy, conv.outputs)
    left = left.view((taps.rows, *left.shape[1:]), (0, *left.strides[1:]))
    multiply(space, left, _kernel(weight, conv, taps, 0, taps.rows), _pixels(dx, conv, taps, 0, taps.rows))


def weight_grad(space: Space, x: DeviceArray, dy: DeviceArray, dw: DeviceArray, conv: Conv2d[int], taps: Seen) -> None:
    """The gradient of the weight; taps that see padding only get 0."""
    if (taps.rows, taps.columns) != (conv.rows.kernel, conv.columns.kernel):
        _clear(space, dw)
    left = _vectors(dy, conv.outputs)
    left = left.view((taps.rows, conv.outputs, conv.batch), (0, left.strides[2], left.strides[1]))
    multiply(space, left, _pixels(x, conv, taps, 0, taps.rows), _kernel(dw, conv, taps, 0, taps.rows))


def _clear(space: Space, x: DeviceArray) -> None:
    space.moving.launch("fill", x.count, x.pointer, 0.0, x.count)


def _vectors(y: DeviceArray, outputs: int) -> DeviceArray:
    """Results as ``(1, batch, outputs)``."""
    return y.view((1, y.count // outputs, outputs), (0, outputs, 1))


def _pixels(x: DeviceArray, conv: Conv2d[int], taps: Seen, row: int, rows: int) -> DeviceArray:
    """What so many rows of taps see: ``(rows, batch, columns and channels)``."""
    across = conv.columns.size * conv.inputs
    offset = (taps.pixel[0] + row) * across + taps.pixel[1] * conv.inputs
    shape = (rows, conv.batch, taps.columns * conv.inputs)
    return x.view(shape, (across, conv.rows.size * across, 1), offset)


def _kernel(weight: DeviceArray, conv: Conv2d[int], taps: Seen, row: int, rows: int) -> DeviceArray:
    """So many rows of taps: ``(rows, outputs, columns and channels)``."""
    across = conv.columns.kernel * conv.inputs
    offset = (taps.tap[0] + row) * across + taps.tap[1] * conv.inputs
    shape = (rows, conv.outputs, taps.columns * conv.inputs)
    return weight.view(shape, (across, conv.rows.kernel * across, 1), offset)
