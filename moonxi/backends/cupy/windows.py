"""The structs of kernels/images.cu: images, how they lie, and the windows that go over them."""

from struct import pack

from moonxi.backends.cupy.layouts import Strides, Struct
from moonxi.shapes import Window


def images(batch: int, channels: int, rows: Window[int], columns: Window[int], strides: Strides) -> Struct:
    """The struct ``Images``."""
    return pack("=18q", batch, channels, *_fields(rows), *_fields(columns), *strides)


def _fields(window: Window[int]) -> tuple[int, ...]:
    return window.size, window.kernel, window.count, window.before, window.stride, window.dilation
