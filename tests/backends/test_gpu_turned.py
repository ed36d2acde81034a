"""Gradients of images by turned kernels on the GPU: they give what the plain ones do, where they are faster."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import shapes
from moonxi.backends.cupy import plans, tuning, turning
from moonxi.dtypes import BF16, F16, F32, F64, Floating
from tests.backends.on_gpu import gpu_or_skip

pytestmark = pytest.mark.gpu

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "3 x 3": ((2, 5, 6, 7), (8, 5, 3, 3), {"padding": 1}),
    "many channels": ((2, 40, 3, 4), (36, 40, 3, 3), {"padding": 1}),
    "no padding": ((3, 4, 8, 7), (6, 4, 5, 2), {}),
    "as much padding as there can be": ((1, 2, 4, 4), (3, 2, 3, 3), {"padding": 2}),
    "dilation": ((2, 3, 9, 9), (4, 3, 3, 2), {"padding": (2, 1), "dilation": (2, 1)}),
}
TOLERANCES: dict[type[Floating], float] = {F64: 1e-12, F32: 1e-5, F16: 2e-3, BF16: 2e-2}


@pytest.fixture(name="always")
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turning, "chosen", lambda way, space: turning.mirrored(way.conv))


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", CASES)
def test_turned_kernels_give_what_the_host_does(name: str, dtype: type[Floating]) -> None:
    shape, kernel, options = CASES[name]
    rng = np.random.default_rng(0)
    conv = shapes.conv2d(shape, kernel, **options)
    arrays = [rng.integers(-8, 9, one) / 8.0 for one in (conv.shape, kernel)]
    like: Any = gpu_or_skip(dtype)()
    dy, weight = map(like.from_host, arrays)
    turned = weight.conv2d_turned(dy.shape, shape, **options)
    assert turned.shape == (kernel[1], kernel[0], *kernel[2:])
    found = dy.conv2d_input_grad_turned(weight, turned, shape, **options).to_host()
    mine, theirs = map(mx.numpy(F64).from_host, arrays)
    expected = mine.conv2d_input_grad(theirs, shape, **options).to_host()
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCES[dtype] * float(np.abs(expected).max()))


@pytest.mark.parametrize("options", [{"stride": 2}, {"groups": 2}, {"padding": 3}])
def test_there_are_none_for_others(options: dict[str, Any]) -> None:
    weight = (6, 4 // options.get("groups", 1), 3, 3)
    assert turning.mirrored(shapes.conv2d((2, 4, 9, 9), weight, **options)) is None
    assert turning.mirrored(shapes.conv2d((2, 4, 9, 9), (6, 4, 1, 1))) is None


@pytest.mark.parametrize("faster", [0, 1])
def test_the_faster_one_is_taken(faster: int, monkeypatch: pytest.MonkeyPatch) -> None:
    like: Any = gpu_or_skip(F32)()
    asked: list[str] = []
    ran: list[str] = []

    def fastest(space: Any, kind: str, conv: Any, plans: int, build: Any, run: Any) -> Any:
        asked.append(kind)
        for number in range(plans):
            run(build(number))
        return build(faster)

    def plan(way: plans.Convolution, kind: str, space: Any) -> Any:
        return made[kind]

    made = {kind: SimpleNamespace(run=lambda *operands, kind=kind: ran.append(kind)) for kind in ("images", "result")}
    monkeypatch.setattr(plans.Convolution, "plan", plan)
    monkeypatch.setattr(tuning, "fastest", fastest)
    weight = like.normal((4, 4, 3, 3), mx.Key(faster))
    turning._is_faster.cache_clear()
    sizes = (2, 4, 8 + faster, 8)
    assert weight.conv2d_turned(sizes, sizes, padding=1).data.pointer == weight.data.pointer  # an eager step
    with tuning.wanted(True):
        turned = weight.conv2d_turned(sizes, sizes, padding=1)
        assert (turned.data.pointer != weight.data.pointer) == faster
        assert asked == ["images by turned kernels"]
        assert ran == ["images", "result"]
        like.zeros(sizes).conv2d_input_grad_turned(weight, turned, sizes, padding=1)
        assert ran[2:] == [["images"], ["result"]][faster]
        single = weight.conv2d_turned((2, 4, 1, 1), (2, 4, 1, 1), padding=1)  # of products of matrices
        assert single.data.pointer == weight.data.pointer
    turning._is_faster.cache_clear()
