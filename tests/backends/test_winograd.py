"""Convolution tile by tile is the convolution by patches, forward and backward."""

import numpy as np
import pytest

from moonxi import shapes
from moonxi.backends.numpy import convolution, jit, winograd
from moonxi.backends.numpy.axis_tiles import AxisTiles
from moonxi.backends.numpy.large_tiles import LargeTiles
from moonxi.backends.numpy.pair_tiles import PairTiles
from moonxi.backends.numpy.small_tiles import CompiledSmallTiles, SmallTiles
from moonxi.backends.numpy.tiles import Tiles
from moonxi.dtypes import HostArray
from moonxi.shapes import Conv2d

IMAGES = [((3, 20, 7, 5), 1), ((2, 16, 6, 8), 0), ((2, 18, 4, 4), 2), ((2, 16, 9, 9), 3), ((40, 16, 3, 12), 1)]
TILES: list[Tiles] = [SmallTiles(), LargeTiles(), AxisTiles(), CompiledSmallTiles()]
CASES = [(tiles, shape, padding) for tiles in TILES for shape, padding in IMAGES]
CASES.append((PairTiles(), (5, 17, 2, 2), 1))


def conv_of(shape: tuple[int, ...], outputs: int, padding: int, stride: int = 1) -> Conv2d[int]:
    return shapes.conv2d(shape, (outputs, shape[1], 3, 3), stride=stride, padding=padding)


@pytest.mark.parametrize(("tiles", "shape", "padding"), CASES)
@pytest.mark.parametrize("last", [True, False])
def test_tiles_compute_what_patches_do(
    tiles: Tiles, shape: tuple[int, ...], padding: int, last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tiles.plain and not jit.is_installed():
        pytest.skip("Numba is not installed")
    monkeypatch.setattr(winograd, "_BLOCK", 1 << 15)  # several blocks
    numbers = np.random.default_rng(0)

    def array(*shape: int) -> HostArray:
        """With the channels last in memory, or not."""
        if not last:
            return numbers.standard_normal(shape)
        return np.moveaxis(numbers.standard_normal((shape[0], *shape[2:], shape[1])), -1, 1)

    conv = conv_of(shape, 24, padding)
    x, weight, bias, dy = array(*shape), array(24, shape[1], 3, 3), numbers.standard_normal(24), array(*conv.shape)
    y, dx, dw = array(*conv.shape), array(*shape), array(*weight.shape)
    winograd.convolve(x, weight, bias, conv, tiles, y)
    np.testing.assert_allclose(y, convolution.convolve(x, weight, bias, conv), rtol=1e-11, atol=1e-11)
    winograd.gradients(x, dy, weight, conv, tiles, dx, dw)
    np.testing.assert_allclose(dx, convolution.input_grad(dy, weight, conv), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(dw, convolution.weight_grad(x, dy, conv), rtol=1e-11, atol=1e-11)
    before = dx.copy()
    winograd.gradients(None, dy, weight, conv, tiles, dx, None)
    np.testing.assert_array_equal(dx, before)


@pytest.mark.parametrize(
    ("shape", "padding", "large", "kind"),
    [
        ((8, 64, 8, 8), 1, True, AxisTiles),
        ((8, 64, 8, 40), 1, True, LargeTiles),
        ((8, 64, 8, 8), 1, False, SmallTiles),
        ((8, 64, 5, 5), 1, True, SmallTiles),  # four large tiles would be half empty
        ((8, 64, 2, 2), 1, True, PairTiles),
    ],
)
def test_the_tiles_that_take_fewest_products_are_chosen(
    shape: tuple[int, ...], padding: int, large: bool, kind: type
) -> None:
    assert type(winograd.tiles_for(conv_of(shape, 64, padding), large=large, numba=False)) is kind


def test_other_convolutions_have_no_tiles() -> None:
    others = [
        conv_of((8, 64, 8, 8), 64, 1, stride=2),
        conv_of((8, 4, 8, 8), 64, 1),
        conv_of((8, 64, 1, 1), 64, 1),
        shapes.conv2d((8, 64, 8, 8), (64, 64, 5, 5)),
        shapes.conv2d((8, 64, 8, 8), (64, 64, 3, 3), dilation=2),
        shapes.conv2d((8, 64, 8, 8), (64, 16, 3, 3), groups=4),
    ]
    assert [winograd.tiles_for(conv, large=True, numba=False) for conv in others] == [None] * len(others)
