"""Convolutions with stride 2 over few channels, such as the first one of a network, on pixels of 2 x 2 as one.

Each such pixel has four times the channels, filled up with zeros to what cuDNN's fast engines take, and the convolution
over them has stride 1 and half the taps each way. Which of the two is faster is found by trying. Everything lies with
the channels last; images are ``(batch, channels, height, width)``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from struct import pack
from typing import Literal

from moonxi.backends.cupy import cublas, tuning
from moonxi.backends.cupy.layouts import Struct, ordered
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.backends.cupy.plans import Convolution, shapes_of
from moonxi.shapes import Conv2d, Window

_FEW = 4
"""Channels, up to which it may pay."""
_ALIGNMENT = 16
"""Bytes of the channels of a pixel, of which there have to be a multiple."""

type Kind = Literal["result", "weight"]
"""What is computed; nobody needs the gradient of the images that come into a network."""
type Compute = Callable[[Space, DeviceArray, DeviceArray, "Fold"], DeviceArray]
"""From both operands, as `moonxi.backends.cupy.plans` has them, to what is computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A convolution on large pixels in the place of another one."""

    conv: Conv2d[int]
    inner: Convolution

    @property
    def channels(self) -> int:
        """Of a large pixel, with the zeros."""
        return self.inner.conv.inputs

    def of_images(self, x: DeviceArray) -> Struct:
        """How images become large pixels: the struct ``Fold`` of kernels/images.cu."""
        rows, columns = self.conv.rows, self.conv.columns
        before = (rows.before + rows.before % 2, columns.before + columns.before % 2)
        return self._struct((rows.size, columns.size), (self._inner.rows.size, self._inner.columns.size), before, x)

    def of_kernel(self, weight: DeviceArray) -> Struct:
        """How the taps of a weight do."""
        rows, columns = self.conv.rows, self.conv.columns
        before = (rows.before % 2, columns.before % 2)
        inner = (self._inner.rows.kernel, self._inner.columns.kernel)
        return self._struct((rows.kernel, columns.kernel), inner, before, weight)

    @property
    def _inner(self) -> Conv2d[int]:
        return self.inner.conv

    def _struct(
        self, sizes: tuple[int, int], large: tuple[int, int], before: tuple[int, int], x: DeviceArray
    ) -> Struct:
        return pack("=12q", self.conv.inputs, self.channels, *sizes, *large, *before, *x.strides)


@lru_cache(maxsize=256)
def fold(conv: Conv2d[int], itemsize: int) -> Fold | None:
    """The convolution on large pixels; None where there is none, or it cannot pay."""
    windows = (conv.rows, conv.columns)
    if conv.groups != 1 or not 0 < conv.inputs <= _FEW:
        return None
    if any(window.stride != 2 or window.dilation != 1 or window.kernel < 2 for window in windows):
        return None
    step = max(1, _ALIGNMENT // itemsize)
    channels = -(-4 * conv.inputs // step) * step
    rows, columns = map(_large, windows)
    return Fold(conv, Convolution(Conv2d(conv.batch, channels, conv.outputs, 1, rows, columns)))


def _large(window: Window[int]) -> Window[int]:
    """Windows over large pixels, of which there are just enough."""
    kernel = (window.kernel + window.before % 2 + 1) // 2
    return Window(window.count + kernel - 1, kernel, window.count, 0, 1, 1)


def chosen(kind: Kind, way: Convolution, space: Space, compute: Compute) -> Fold | None:
    """The convolution to compute instead of one that is to be tuned, if it is faster; None otherwise."""
    if not (space.autotune or tuning.is_wanted()):
        return None
    found = fold(way.conv, space.itemsize)
    return found if found is not None and _is_faster(kind, way, space, found, compute) else None


@lru_cache(maxsize=256)
def _is_faster(kind: Kind, way: Convolution, space: Space, large: Fold, compute: Compute) -> bool:
    """Whether it is, with all that has to be moved, where cuDNN has plans for both."""
    plan = way.plan(kind, space)
    if plan is None or large.inner.plan(kind, space) is None:
        return False
    operands: list[DeviceArray] = []

    def run(number: int) -> None:
        if not operands:
            for shape in shapes_of(kind, way.conv):
                operands.append(space.full(shape, 0.5).view(shape, ordered(shape, (0, 2, 3, 1))))
        if number:
            x = operands[0]
            if kind == "result":  # else they are there
                x = x.turned(x.shape, x.strides)
            compute(space, x, operands[1], large)
        else:
            plan.run(space, operands[0], operands[1], operands[2])

    try:
        return tuning.fastest(space, f"{kind} from large pixels", way.conv, 2, int, run) == 1
    except (ValueError, TimeoutError):  # neither runs, or there is no time to try
        return False


def images(space: Space, x: DeviceArray, large: Fold) -> DeviceArray:
    """Images as large pixels, which in a recording the gradient of the weight finds again."""
    if x.kept is not None and x.kept[0] is large:
        return x.kept[1]
    inner = large.inner.conv
    shape = (inner.batch, inner.inputs, inner.rows.size, inner.columns.size)
    made = _folded(space, x, large.of_images(x), shape)
    if cublas.recording.value is not None:  # else these may be somebody's data, which stay
        x.kept = large, made
    return made


def kernel(space: Space, weight: DeviceArray, large: Fold) -> DeviceArray:
    """A weight for them."""
    inner = large.inner.conv
    shape = (inner.outputs, inner.inputs, inner.rows.kernel, inner.columns.kernel)
    return _folded(space, weight, large.of_kernel(weight), shape)


def _folded(space: Space, x: DeviceArray, how: Struct, shape: tuple[int, ...]) -> DeviceArray:
    out = space.empty(shape, ordered(shape, (0, 2, 3, 1)))
    vectors = out.count * space.itemsize // _ALIGNMENT if space.itemsize <= 4 else out.count
    space.images.launch("fold", vectors, x.pointer, out.pointer, how, out.count)
    return out


def plain_kernel(space: Space, weight: DeviceArray, large: Fold) -> DeviceArray:
    """The weight, or its gradient, of which one for large pixels was made."""
    conv = large.conv
    shape = (conv.outputs, conv.inputs, conv.rows.kernel, conv.columns.kernel)
    out = space.empty(shape, ordered(shape, (0, 2, 3, 1)))
    space.images.launch("unfold", out.count, weight.pointer, out.pointer, large.of_kernel(out), out.count)
    return out
