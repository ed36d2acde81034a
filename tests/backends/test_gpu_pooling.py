"""Max pooling on the GPU where a thread takes several channels at a time, beside NumPy's."""

from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import shapes
from moonxi.backends.cupy import pooling
from moonxi.dtypes import BF16, F16, F32
from tests.backends.on_gpu import gpu_or_skip

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"stride": 2, "padding": 1},
    {"stride": 1, "padding": 1, "dilation": 2},
    {"stride": (2, 3), "padding": (0, 1)},
    {"stride": 2, "padding": 1, "ceil_mode": True},
)


def last(x: Any) -> Any:
    """The same images with the channels last in memory."""
    return x.from_host(np.ascontiguousarray(x.to_host().transpose(0, 2, 3, 1))).permute((0, 3, 1, 2))


@pytest.mark.gpu
@pytest.mark.parametrize("element", [F32, F16, BF16])
@pytest.mark.parametrize("options", OPTIONS)
def test_windows_over_several_channels_at_a_time(element: Any, options: dict[str, Any]) -> None:
    like, cpu = gpu_or_skip(element)(), mx.numpy()
    for channels in (8, 24):
        x = last(like.normal((2, channels, 9, 7), mx.Key(channels)))
        pool = shapes.pool2d("max_pool2d", x.shape, 3, **options)
        assert pooling._goes_by_vectors(x.space, pool, x.data)
        y, theirs = x.max_pool2d(3, **options), cpu.from_host(x.to_host()).max_pool2d(3, **options)
        assert np.array_equal(y.to_host(), theirs.to_host())
        dy = like.normal(y.shape, mx.Key(1))
        dx = x.max_pool2d_grad(dy, 3, **options)
        expected = cpu.from_host(x.to_host()).max_pool2d_grad(cpu.from_host(dy.to_host()), 3, **options).to_host()
        np.testing.assert_allclose(dx.to_host(), expected, rtol=1e-6 if element is F32 else 2e-2, atol=1e-6)


@pytest.mark.gpu
def test_of_equal_ones_the_first_and_of_numbers_and_nan_nan_gets_the_gradient() -> None:
    like = gpu_or_skip(F32)()
    values = np.zeros((1, 4, 4, 4), np.float32)
    values[0, 1, 1, 1] = np.nan
    x = last(like.from_host(values))
    dx = x.max_pool2d_grad(like.ones((1, 4, 2, 2)), 2).to_host()
    assert dx[0, 0].tolist() == [[1, 0, 1, 0], [0] * 4, [1, 0, 1, 0], [0] * 4]
    assert dx[0, 1].tolist() == [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0] * 4]


@pytest.mark.gpu
def test_the_gradient_finds_where_the_largest_were(monkeypatch: pytest.MonkeyPatch) -> None:
    like = gpu_or_skip(F32)()
    launched: list[str] = []
    images = like.space.images
    launch = type(images).launch

    def noted(self: Any, name: str, threads: int, *arguments: Any) -> None:
        launched.append(name)
        launch(self, name, threads, *arguments)

    monkeypatch.setattr(type(images), "launch", noted)
    x = last(like.normal((2, 8, 9, 7), mx.Key(0)))
    again = x.from_host(x.to_host())
    y = x.max_pool2d(3, stride=2, padding=1)
    dy = like.normal(y.shape, mx.Key(1))
    launched.clear()
    found = x.max_pool2d_grad(dy, 3, stride=2, padding=1)
    assert launched.count("largest_last") == 0
    other = x.max_pool2d_grad(like.ones((2, 8, 3, 2)), 3)  # of other windows
    assert launched.count("largest_last") == 1
    assert np.array_equal(found.to_host(), last(again).max_pool2d_grad(dy, 3, stride=2, padding=1).to_host())
    assert np.array_equal(other.to_host(), last(again).max_pool2d_grad(like.ones((2, 8, 3, 2)), 3).to_host())


@pytest.mark.gpu
@pytest.mark.parametrize("element", [F32, F16, BF16])
@pytest.mark.parametrize("channels", [8, 3])
def test_a_gradient_of_a_sum_is_that_of_the_sum_in_memory(element: Any, channels: int) -> None:
    like = gpu_or_skip(element)()
    x = last(like.normal((2, channels, 9, 7), mx.Key(0)))
    y = x.max_pool2d(3, stride=2, padding=1)
    one, other = like.normal(y.shape, mx.Key(1)), last(like.normal(y.shape, mx.Key(2)))
    found = x.max_pool2d_grad_of_sum(one, other, 3, stride=2, padding=1).to_host()
    assert np.array_equal(found, x.max_pool2d_grad(one + other, 3, stride=2, padding=1).to_host())


@pytest.mark.gpu
def test_compiled_the_sum_behind_a_residual_block_goes_into_the_pooling(monkeypatch: pytest.MonkeyPatch) -> None:
    like = gpu_or_skip(F32)()
    asked: list[str] = []
    largest_grad = pooling.largest_grad

    def noted(space: Any, x: Any, dy: Any, pool: Any, other: Any = None) -> Any:
        asked.append("gradient" if other is None else "gradient of a sum")
        return largest_grad(space, x, dy, pool, other)

    monkeypatch.setattr(pooling, "largest_grad", noted)

    def gradient(x: Any, one: Any, other: Any) -> Any:
        return x.max_pool2d_grad(one + other, 2), x.max_pool2d_grad(one + 1.0, 2)

    def kept(x: Any, one: Any, other: Any) -> Any:
        both = one + other
        return x.max_pool2d_grad(both, 2), both

    x = last(like.normal((2, 8, 4, 4), mx.Key(0)))
    one, other = (last(like.normal((2, 8, 2, 2), mx.Key(number))) for number in (1, 2))
    for function, sums in (gradient, 1), (kept, 0):
        step = mx.compile(function)
        expected = function(x, one, other)
        step(x, one, other)
        asked.clear()
        for _ in range(2):
            for mine, theirs in zip(step(x, one, other), expected, strict=True):
                assert np.array_equal(mine.to_host(), theirs.to_host())
        assert asked.count("gradient of a sum") == 2 * sums  # when it is recorded, and before
