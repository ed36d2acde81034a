"""Images of 2 x 2 pixels with a padding of 1: most of a kernel of 3 x 3 lies on the padding, and 9 products are enough.

In one direction ``y0 = g1 d0 + g2 d1`` and ``y1 = g0 d0 + g1 d1``, which is ``p + q`` and ``p + r`` with

- pixels: ``d0 + d1, d1, d0``; kernel: ``g1, g2 - g1, g0 - g1``; and the products ``p, q, r`` of the two,

the way in which Karatsuba and Ofman (1962) save one product in four.
"""

from typing import override

import numpy as np

from moonxi.backends.numpy.tiles import Tiles, array
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d


class PairTiles(Tiles):
    """One tile for an image."""

    size = 2
    matrices = 9

    @staticmethod
    def fit(conv: Conv2d[int]) -> bool:
        """Whether the images of a convolution are of this kind."""
        return all((one.size, one.count, one.before) == (2, 2, 1) for one in (conv.rows, conv.columns))

    @override
    def write_kernel(self, weight: HostArray, matrices: HostArray) -> None:
        taps = weight.transpose(2, 3, 0, 1)
        down = np.empty_like(taps, order="C")
        _kernel(taps, down)
        _kernel(down.transpose(1, 0, 2, 3), matrices.reshape(3, 3, *matrices.shape[1:]).transpose(1, 0, 2, 3))

    @override
    def write_kernel_gradient(self, matrices: HostArray, dw: HostArray) -> None:
        whole = matrices.reshape(3, 3, *matrices.shape[1:])
        across = np.empty_like(whole)
        _kernel_adjoint(whole.transpose(1, 0, 2, 3), across.transpose(1, 0, 2, 3))
        _kernel_adjoint(across, dw.transpose(2, 3, 0, 1))

    @override
    def pixels(self, images: HostArray, conv: Conv2d[int]) -> HostArray:
        whole = array("transformed", (3, 3, len(images), conv.inputs), images.dtype)
        ends = whole[2:0:-1, 2:0:-1]
        np.copyto(ends, images.transpose(1, 2, 0, 3))
        np.add(ends[:, 0], ends[:, 1], out=whole[2:0:-1, 0])
        np.add(whole[2], whole[1], out=whole[0])
        return whole.reshape(9, len(images), conv.inputs)

    @override
    def spread(self, tiles: HostArray, conv: Conv2d[int], dx: HostArray) -> None:
        whole = tiles.reshape(3, 3, len(dx), conv.inputs)
        whole[1:] += whole[0]
        ends = whole[2:0:-1]
        np.add(ends[:, 2:0:-1], ends[:, :1], out=dx.transpose(1, 2, 0, 3))

    @override
    def write_results(self, tiles: HostArray, bias: HostArray, conv: Conv2d[int], results: HostArray) -> None:
        whole = tiles.reshape(3, 3, len(results), conv.outputs)
        whole[1:] += whole[0]
        whole[1:, 0] += bias
        np.add(whole[1:, 1:], whole[1:, :1], out=results.transpose(1, 2, 0, 3))

    @override
    def expanded(self, gradient: HostArray, conv: Conv2d[int]) -> HostArray:
        whole = array("expanded", (3, 3, len(gradient), conv.outputs), gradient.dtype)
        ends = whole[1:, 1:]
        np.copyto(ends, gradient.transpose(1, 2, 0, 3))
        np.add(ends[:, 0], ends[:, 1], out=whole[1:, 0])
        np.add(whole[1], whole[2], out=whole[0])
        return whole.reshape(9, len(gradient), conv.outputs)


def _kernel(taps: HostArray, out: HostArray) -> None:
    """Along the first axis."""
    np.copyto(out[0], taps[1])
    np.subtract(taps[2], taps[1], out=out[1])
    np.subtract(taps[0], taps[1], out=out[2])


def _kernel_adjoint(matrices: HostArray, out: HostArray) -> None:
    np.subtract(matrices[0], matrices[1], out=out[1])
    out[1] -= matrices[2]
    np.copyto(out[2], matrices[1])
    np.copyto(out[0], matrices[2])
