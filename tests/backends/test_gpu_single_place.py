"""Convolutions with a single place on the GPU: as products of matrices they give what they do on the host."""

from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import shapes
from moonxi.backends.cupy import single_place
from moonxi.dtypes import BF16, F32, F64, Floating
from tests.backends.on_gpu import gpu_or_skip

pytestmark = pytest.mark.gpu

CASES: dict[str, tuple[tuple[int, int], tuple[int, int], dict[str, Any], tuple[int, int]]] = {
    "3 x 3 over a pixel": ((1, 1), (3, 3), {"padding": 1}, (1, 1)),
    "3 x 3 over 2 x 2 with stride 2": ((2, 2), (3, 3), {"padding": 1, "stride": 2}, (2, 2)),
    "a point of 2 x 2": ((2, 2), (1, 1), {"stride": 2}, (1, 1)),
    "3 x 3 over 1 x 2": ((1, 2), (3, 3), {"padding": 1, "stride": 2}, (1, 2)),
    "all taps": ((3, 3), (3, 3), {}, (3, 3)),
    "some pixels of 3 x 4": ((3, 4), (2, 3), {"stride": 3}, (2, 3)),
    "padding at the start": ((2, 1), (4, 3), {"padding": (2, 1), "stride": 4}, (2, 1)),
}
"""Sizes of the image and the kernel, the options, and how many taps see pixels."""
OTHERS = {
    "several places": ((2, 2), (3, 3), {"padding": 1}),
    "dilation": ((1, 1), (3, 3), {"padding": 2, "dilation": 2}),
    "groups": ((1, 1), (3, 3), {"padding": 1, "groups": 2}),
    "many rows of taps": ((4, 4), (4, 4), {}),
}
TOLERANCES: dict[type[Floating], float] = {F64: 1e-12, F32: 1e-5, BF16: 2e-2}


def operands(image: tuple[int, int], kernel: tuple[int, int], options: dict[str, Any]) -> list[Any]:
    """Images, a weight, and a gradient of the result, whose numbers BF16 has too."""
    rng = np.random.default_rng(0)
    x, weight = (5, 6, *image), (8, 6 // options.get("groups", 1), *kernel)
    y = shapes.conv2d(x, weight, **options).shape
    return [rng.integers(-8, 9, shape) / 8.0 for shape in (x, weight, y)]


def computed(like: Any, arrays: list[Any], options: dict[str, Any]) -> list[Any]:
    x, weight, dy = map(like.from_host, arrays)
    results = x.conv2d(weight, **options), dy.conv2d_input_grad(weight, x.shape, **options)
    return [one.to_host() for one in (*results, x.conv2d_weight_grad(dy, weight.shape, **options))]


@pytest.fixture(name="used")
def _used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the products that were made."""
    found: list[str] = []

    def noted(name: str) -> Any:
        function = getattr(single_place, name)

        def call(*arguments: Any) -> None:
            found.append(name)
            function(*arguments)

        return call

    for name in ("result", "input_grad", "weight_grad"):
        monkeypatch.setattr(single_place, name, noted(name))
    return found


@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", CASES)
def test_products_give_what_the_host_does(name: str, dtype: type[Floating], used: list[str]) -> None:
    image, kernel, options, taps = CASES[name]
    arrays = operands(image, kernel, options)
    expected = computed(mx.numpy(F64), arrays, options)
    for mine, theirs in zip(computed(gpu_or_skip(dtype)(), arrays, options), expected, strict=True):
        scale = float(np.abs(theirs).max())
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=TOLERANCES[dtype] * scale)
    is_rounded_once = dtype is not BF16 or taps[0] == 1
    assert used == (["result"] if is_rounded_once else []) + ["input_grad", "weight_grad"]
    found = single_place.seen(shapes.conv2d(arrays[0].shape, arrays[1].shape, **options))
    assert found is not None
    assert found[:2] == taps


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_left_to_cudnn_or_patches(name: str, used: list[str]) -> None:
    image, kernel, options = OTHERS[name]
    arrays = operands(image, kernel, options)
    expected = computed(mx.numpy(F64), arrays, options)
    for mine, theirs in zip(computed(gpu_or_skip(F64)(), arrays, options), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    assert used == []
