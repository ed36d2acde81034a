"""The structs of kernels/images.cu: images, how they lie, and the windows that go over them."""

import numpy as np

from moonxi.backends.cupy.layouts import Strides, Walk
from moonxi.shapes import Window


def images(batch: int, channels: int, rows: Window[int], columns: Window[int], strides: Strides) -> Walk:
    """The struct ``Images``."""
    return np.array([batch, channels, *_fields(rows), *_fields(columns), *strides], np.int64)


def _fields(window: Window[int]) -> tuple[int, ...]:
    return window.size, window.kernel, window.count, window.before, window.stride, window.dilation
