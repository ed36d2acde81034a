"""Convolutions on large pixels on the GPU: they give what the plain ones do, and are taken where they are faster."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import shapes
from moonxi.backends.cupy import cublas, folding, plans, tuning
from moonxi.dtypes import BF16, F16, F32, F64, Floating
from tests.backends.on_gpu import gpu_or_skip

pytestmark = pytest.mark.gpu

CASES: dict[str, tuple[int, tuple[int, int], tuple[int, int], dict[str, Any]]] = {
    "the stem of ResNet": (3, (32, 32), (7, 7), {"padding": 3}),
    "3 x 3": (3, (9, 8), (3, 3), {"padding": 1}),
    "no padding": (1, (8, 11), (5, 4), {}),
    "even padding": (4, (7, 10), (4, 6), {"padding": 2}),
    "padding that differs": (2, (6, 5), (3, 7), {"padding": (0, 3)}),
    "a pixel for each": (3, (6, 6), (2, 2), {}),
}
"""Channels, sizes of the image and the kernel, and the padding."""
TOLERANCES: dict[type[Floating], float] = {F64: 1e-12, F32: 1e-5, F16: 2e-3, BF16: 2e-2}


@pytest.fixture(name="always")
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(kind: Any, way: plans.Convolution, space: Any, compute: Any) -> folding.Fold | None:
        return folding.fold(way.conv, space.itemsize)

    monkeypatch.setattr(folding, "chosen", always)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", CASES)
def test_large_pixels_give_what_the_host_does(name: str, dtype: type[Floating]) -> None:
    channels, image, kernel, options = CASES[name]
    options = {**options, "stride": 2}
    rng = np.random.default_rng(0)
    x, weight = (5, channels, *image), (8, channels, *kernel)
    conv = shapes.conv2d(x, weight, **options)
    arrays = [rng.integers(-8, 9, shape) / 8.0 for shape in (x, weight, conv.shape)]
    found, expected = (computed(like, arrays, options) for like in (gpu_or_skip(dtype)(), mx.numpy(F64)))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=TOLERANCES[dtype] * float(np.abs(theirs).max()))
    large = folding.fold(conv, dtype.itemsize)
    assert large is not None
    assert large.channels * dtype.itemsize % 16 == 0
    assert large.channels - 4 * channels < 16 // dtype.itemsize
    assert large.inner.conv.shape == conv.shape


def computed(like: Any, arrays: list[Any], options: dict[str, Any]) -> list[Any]:
    x, weight, dy = map(like.from_host, arrays)
    gradient = x.conv2d_weight_grad(dy, weight.shape, **options)
    turned = x.permute((0, 2, 3, 1)).reshape(x.permute((0, 2, 3, 1)).shape).permute((0, 3, 1, 2))
    return [one.to_host() for one in (x.conv2d(weight, **options), gradient, turned.conv2d(weight, **options))]


@pytest.mark.parametrize(
    ("channels", "options"),
    [(5, {"stride": 2}), (4, {"stride": 2, "groups": 2}), (3, {}), (3, {"stride": 2, "dilation": 2})],
)
def test_there_are_none_for_others(channels: int, options: dict[str, Any]) -> None:
    weight = (6, channels // options.get("groups", 1), 3, 3)
    assert folding.fold(shapes.conv2d((2, channels, 9, 9), weight, **options), 4) is None


@pytest.mark.parametrize("faster", [0, 1])
def test_the_faster_one_is_taken(faster: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fastest(space: Any, kind: str, conv: Any, plans: int, build: Any, run: Any) -> int:
        asked.append(kind)
        for number in range(plans):
            run(build(number))
        return faster

    ran: list[str] = []
    plan = SimpleNamespace(run=lambda space, first, second, out: ran.append("plain"))
    monkeypatch.setattr(plans.Convolution, "plan", lambda self, kind, space: plan)
    monkeypatch.setattr(tuning, "fastest", fastest)
    gpu: Any = gpu_or_skip(F32)()

    def compute(space: Any, first: Any, second: Any, large: folding.Fold) -> Any:
        ran.append("large")
        assert first.shape == (2, 3, 8, 8)

    way = plans.Convolution(shapes.conv2d((2, 3, 8, 8), (4, 3, 3, 3), stride=2))
    assert folding.chosen("weight", way, gpu.space, compute) is None  # an eager step
    with tuning.wanted(True):
        found = folding.chosen("weight", way, gpu.space, compute)
        assert found is (folding.fold(way.conv, 4) if faster else None)
        assert folding.chosen("weight", way, gpu.space, compute) is found
    assert asked == ["weight from large pixels"]
    assert ran == ["plain", "large"]


@pytest.mark.usefixtures("always")
def test_the_gradient_of_the_weight_finds_the_large_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    like = gpu_or_skip(F32)()
    launched: list[str] = []
    launch = type(like.space.images).launch

    def noted(self: Any, name: str, threads: int, *arguments: Any) -> None:
        launched.append(name)
        launch(self, name, threads, *arguments)

    monkeypatch.setattr(type(like.space.images), "launch", noted)
    x, weight = like.normal((2, 3, 8, 8), mx.Key(0)), like.normal((4, 3, 3, 3), mx.Key(1))
    y = x.conv2d(weight, stride=2)
    x.conv2d_weight_grad(y, weight.shape, stride=2)
    assert launched.count("fold") == 3  # the images twice, the weight once
    assert x.data.kept is None
    launched.clear()
    with cublas.recording.within(cublas.calls()):
        x.conv2d(weight, stride=2)
        x.conv2d_weight_grad(y, weight.shape, stride=2)
        assert launched.count("fold") == 2
        x.conv2d(weight, stride=2, padding=1)  # of other large pixels
        assert launched.count("fold") == 4
