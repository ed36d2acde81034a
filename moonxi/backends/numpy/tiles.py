"""What `winograd` needs of tiles of one size: transforms of kernel, pixels and results, and their adjoints."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from moonxi.backends.numpy import scratch
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d, Window


class Tiles(ABC):
    """Between images ``(images, height, width, channels)`` and matrices of all tiles ``(matrix, tiles, channels)``."""

    size: ClassVar[int]
    """Results of a tile, in each direction."""
    matrices: ClassVar[int]
    """How many there are: one for each product that a tile takes."""
    plain: ClassVar[bool] = False
    """Whether images must be in order and not read-only."""

    def grid(self, conv: Conv2d[int]) -> tuple[int, int]:
        """Tiles down and across."""
        return -(-conv.rows.count // self.size), -(-conv.columns.count // self.size)

    @abstractmethod
    def write_kernel(self, weight: HostArray, matrices: HostArray) -> None:
        """The weight as matrices ``(outputs, inputs)``."""

    @abstractmethod
    def write_kernel_gradient(self, matrices: HostArray, dw: HostArray) -> None:
        """From the gradients of the matrices to that of the weight: the adjoint of `write_kernel`."""

    @abstractmethod
    def pixels(self, images: HostArray, conv: Conv2d[int]) -> HostArray:
        """The tiles of images, transformed."""

    @abstractmethod
    def spread(self, tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        """The adjoint of `pixels`, into images. The tiles are lost."""

    @abstractmethod
    def write_results(self, tiles: HostArray, bias: HostArray, conv: Conv2d[int], results: HostArray) -> None:
        """From products to results, into images. The tiles are lost."""

    @abstractmethod
    def expanded(self, gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        """The adjoint of `write_results`."""


def array(name: str, shape: tuple[int, ...], dtype: np.dtype[np.floating]) -> HostArray:
    """Memory of the thread, of any content."""
    return scratch.array(f"winograd {name}", shape, dtype)


def met(window: Window[int], size: int) -> tuple[slice, slice]:
    """The pixels that tiles of a size cover, and where these are among all that the tiles have room for."""
    room = size * -(-window.count // size) + 2
    first, last = max(0, -window.before), min(window.size, room - window.before)
    return slice(first, last), slice(first + window.before, last + window.before)
