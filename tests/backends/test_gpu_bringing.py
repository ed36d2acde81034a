"""What a replay copies before its graph runs, and what stays where it is."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from moonxi import optim
from moonxi.backends.cupy import GpuTensor, recording
from moonxi.backends.cupy.device import Device
from moonxi.backends.cupy.lease import Slot, hand_on
from moonxi.backends.cupy.memory import DeviceArray, Space
from moonxi.compiled import compile_report
from moonxi.dtypes import F32
from tests.backends import gpu_sample
from tests.backends.gpu_graphs import images
from tests.backends.on_gpu import gpu_or_skip, launched

pytestmark = pytest.mark.gpu

type Gpu = GpuTensor[F32]


@pytest.fixture(name="gpu")
def _gpu() -> Gpu:
    made: Gpu = gpu_or_skip(F32)()
    return made


def noted(monkeypatch: pytest.MonkeyPatch, cls: type, method: str, names: list[str]) -> None:
    """Have a method write down its name at each call."""
    own = getattr(cls, method)

    def call(*given: Any) -> Any:
        names.append(method)
        return own(*given)

    monkeypatch.setattr(cls, method, call)


def replayed(step: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """The step after its first two calls, at which it is traced and recorded."""
    compiled = mx.compile(step)
    for _ in range(2):
        compiled(*arguments)
    return compiled


def test_what_lies_there_already_is_not_copied_again(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def product(x: Gpu, y: Gpu) -> Gpu:
        return x @ y

    x, y, other = (gpu.normal(shape, mx.Key(n)) for n, shape in enumerate([(5, 7), (7, 3), (7, 3)]))
    launches = launched(monkeypatch)
    compiled = replayed(product, x, y)
    expected = [(x @ y).to_host(), (x @ other).to_host()]
    for given, right, brought in ((y, 0, 0), (other, 1, 1), (other, 1, 0), (y, 0, 1)):
        launches.clear()
        found = compiled(x, given)
        assert launches.count("bring") == brought
        np.testing.assert_array_equal(found.to_host(), expected[right])


def test_what_another_step_gives_is_copied_each_time_though_it_is_the_same_array(gpu: Gpu) -> None:
    def shifted(x: Gpu, by: Gpu) -> Gpu:
        return x + by

    def doubled(x: Gpu) -> Gpu:
        return x * 2.0

    x = gpu.normal((6,), mx.Key(0))
    first, second = replayed(shifted, x, x), replayed(doubled, x)
    for number in range(5):
        found = second(first(x, gpu.full((6,), float(number))))
        np.testing.assert_allclose(found.to_host(), 2.0 * (x.to_host() + number), rtol=1e-6)


@pytest.mark.parametrize("count", [1, 8, 9])
def test_keys_come_with_the_launch_or_by_themselves(gpu: Gpu, count: int) -> None:
    def noise(x: Gpu, keys: tuple[mx.Key, ...]) -> Gpu:
        for key in keys:
            x = x + x.uniform(x.shape, key)
        return x

    x = gpu.zeros((11,))
    compiled = replayed(noise, x, mx.Key(0).split(count))
    for number in range(3):
        keys = mx.Key(number).split(count)
        np.testing.assert_allclose(compiled(x, keys).to_host(), noise(x, keys).to_host(), rtol=1e-6)


def test_more_than_one_kernel_brings_are_there_too(gpu: Gpu) -> None:
    def total(xs: tuple[Gpu, ...]) -> Gpu:
        first, *others = xs
        for x in others:
            first = first + x
        return first

    def given(number: int) -> tuple[Gpu, ...]:
        made = [gpu.full((3, 4), float(number * place)) for place in range(23)]
        return (*made[:-1], gpu.full((4, 3), float(number)).transpose())  # which lies in another way

    compiled = replayed(total, given(1))
    for number in (2, 3):
        np.testing.assert_array_equal(compiled(given(number)).to_host(), np.full((3, 4), number * (231.0 + 1.0)))


def test_losses_that_are_kept_leave_everything_else_in_its_place(gpu: Gpu) -> None:
    def step(weight: Gpu, x: Gpu) -> tuple[Gpu, Gpu]:
        return weight + x, weight.sum()

    weight, x = gpu.zeros((4, 5)), gpu.ones((4, 5))
    compiled = replayed(step, weight, x)
    places, losses = [], []
    for _ in range(8):
        weight, loss = compiled(weight, x)
        places.append(weight.data.pointer)
        losses.append(loss)
    assert [loss.item() for loss in losses] == [20.0 * number for number in range(8)]
    assert len(set(places[2::2])) == len(set(places[3::2])) == 1


def test_nothing_that_goes_on_is_copied_in_the_training_of_a_residual_network(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = gpu_sample.new_net(gpu), images(gpu, 6, 3, 9, 8)
    optimizer = optim.Sgd(lr=0.1, momentum=0.9, weight_decay=1e-4, clip_norm=1.0)
    compiled = mx.compile(gpu_sample.training(gpu_sample.loss, optimizer, None))
    state = optimizer.init(model)
    copies: list[str] = []
    noted(monkeypatch, Device, "duplicate", copies)
    noted(monkeypatch, Space, "copy", copies)
    losses = []
    for number in range(8):
        copies.clear()
        model, state, value = compiled(model, state, batch, mx.Key(0))
        assert number < 3 or copies == []  # of weights, running statistics, momentum and losses
        losses.append(value.item())
        del value
    assert np.isfinite(losses).all()
    assert compile_report(compiled).traces[0].replays == 7


def test_what_a_step_gives_is_computed_where_it_is_given_out(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph has no copies at its end, of weights, momentum, running statistics or the loss."""
    places: list[tuple[int, int]] = []

    def handed_on(results: Sequence[tuple[DeviceArray, Slot]]) -> None:
        places.extend((data.pointer, slot.array.pointer) for data, slot in results)
        hand_on(results)

    monkeypatch.setattr(recording, "hand_on", handed_on)
    model, batch = gpu_sample.new_net(gpu), images(gpu, 6, 3, 9, 8)
    optimizer = optim.Sgd(lr=0.1, momentum=0.9, weight_decay=1e-4, clip_norm=1.0)
    compiled = mx.compile(gpu_sample.training(gpu_sample.loss, optimizer, None))
    state = optimizer.init(model)
    for _ in range(2):
        model, state, _ = compiled(model, state, batch, mx.Key(0))
    assert len(places) > 3 * len(model.parameters())
    assert [found for found, wanted in places if found != wanted] == []


def test_images_of_few_channels_are_brought_as_they_lie(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def convolved(x: Gpu, weight: Gpu) -> Gpu:
        return x.conv2d(weight, stride=2, padding=1)

    weight = gpu.normal((4, 3, 3, 3), mx.Key(0))
    images = [gpu.normal((2, 3, 16, 14), mx.Key(number)) for number in range(1, 4)]
    compiled = replayed(convolved, images[0], weight)
    filled: list[str] = []
    noted(monkeypatch, Slot, "fill", filled)
    for x in images[1:]:
        found = compiled(x, weight)
        assert not filled  # what lies in another order is moved there
        np.testing.assert_allclose(found.to_host(), convolved(x, weight).to_host(), rtol=1e-5, atol=1e-5)
