"""Memory of models and states that nobody holds any more is used again; of those that a user holds nothing changes."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from examples.mnist import Mlp, loss
from moonxi import nn, optim
from moonxi.errors import LabelError

type Host = mx.NpArray[mx.F32]
type Model = Mlp[Host]
type State = optim.OptimizerState[Host, Model]
type Batch = mx.Labelled[Host]
type Step = Callable[[Model, State, Batch, mx.Key], tuple[Model, State, Host]]

CPU = mx.numpy()
DIGITS = mx.data.mnist(CPU).train
OPTIMIZERS: dict[str, optim.Optimizer] = {
    "sgd": optim.Sgd(lr=0.01),
    "momentum": optim.Sgd(lr=0.01, momentum=0.9, weight_decay=1e-4, clip_norm=1.0),
    "adam": optim.Adam(lr=0.001),
}


def step_of(optimizer: optim.Optimizer) -> Step:
    def step(model: Model, state: State, batch: Batch, key: mx.Key) -> tuple[Model, State, Host]:
        (value, _), gradients = nn.value_and_grad(loss, model, batch, nn.Train(key))
        return (*optimizer.update(model, gradients, state), value)

    return step


def tensors(model: Model, state: State) -> list[Host]:
    return [*model.parameters(), state.step, *(one for slot in state.slots.values() for one in slot)]


def addresses(model: Model, state: State) -> list[int]:
    return [one.data.ctypes.data for one in tensors(model, state)]


def batch(number: int) -> Batch:
    return DIGITS.batch(np.arange(number * 8, number * 8 + 8))


def start(optimizer: optim.Optimizer) -> tuple[Model, State]:
    model = Mlp.init(CPU, mx.Key(0))
    return model, optimizer.init(model)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_third_model_that_is_kept_stays_and_all_steps_are_the_eager_ones(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    eager, compiled = step_of(optimizer), mx.compile(step_of(optimizer))
    (model, state), (other, memory) = start(optimizer), start(optimizer)
    kept: list[tuple[Model, State, list[bytes]]] = []
    for number in range(24):
        model, state, value = compiled(model, state, batch(number), mx.Key(number))
        other, memory, expected = eager(other, memory, batch(number), mx.Key(number))
        assert value.item() == pytest.approx(expected.item(), rel=1e-4)
        for mine, theirs in zip(tensors(model, state), tensors(other, memory), strict=True):
            np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-3, atol=1e-5)
        if number % 3 == 0:
            kept.append((model, state, [one.to_host().tobytes() for one in tensors(model, state)]))
    for before, remembered, bits in kept:
        assert [one.to_host().tobytes() for one in tensors(before, remembered)] == bits


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_where_nobody_holds_old_models_two_places_in_memory_serve_all_of_them(name: str) -> None:
    optimizer = OPTIMIZERS[name]
    compiled = mx.compile(step_of(optimizer))
    model, state = start(optimizer)
    model, state, _ = compiled(model, state, batch(0), mx.Key(0))
    seen = []
    for number in range(1, 12):
        model, state, _ = compiled(model, state, batch(number), mx.Key(number))
        seen.append(addresses(model, state))
    assert all(len(set(places)) == 2 for places in zip(*seen, strict=True))


def test_memory_of_a_model_that_was_kept_is_used_again_once_it_is_let_go() -> None:
    optimizer = OPTIMIZERS["momentum"]
    compiled = mx.compile(step_of(optimizer))
    model, state = start(optimizer)
    model, state, _ = compiled(model, state, batch(0), mx.Key(0))
    kept: Model | None = model
    place = model.first.weight.data.ctypes.data
    for number in range(1, 7):
        model, state, _ = compiled(model, state, batch(number), mx.Key(number))
        assert model.first.weight.data.ctypes.data != place
    assert kept is not None
    kept = None
    places = set()
    for number in range(7, 10):
        model, state, _ = compiled(model, state, batch(number), mx.Key(number))
        places.add(model.first.weight.data.ctypes.data)
    assert place in places


def views(tensor: Host) -> list[Callable[[], NDArray[np.floating]]]:
    """Ways to hold a part of a tensor's memory without the tensor."""
    part, turned = tensor[1:3], tensor.permute((1, 0))
    array = tensor.data[:, 2:]
    buffer = memoryview(tensor.data)
    return [part.to_host, turned.to_host, lambda: array, lambda: np.asarray(buffer)]


def test_views_of_old_models_stay_as_they_are() -> None:
    optimizer = OPTIMIZERS["momentum"]
    compiled = mx.compile(step_of(optimizer))
    model, state = start(optimizer)
    kept = []
    for number in range(12):
        model, state, _ = compiled(model, state, batch(number), mx.Key(number))
        view = views(model.second.weight)[number % 4]
        kept.append((view, view().copy()))
    for view, before in kept:
        assert np.array_equal(view(), before)


def test_one_model_stays_while_two_runs_go_on_from_it() -> None:
    optimizer = OPTIMIZERS["adam"]
    eager, compiled = step_of(optimizer), mx.compile(step_of(optimizer))
    root = start(optimizer)
    for number in range(4):
        root = compiled(*root, batch(number), mx.Key(number))[:2]
    ends = []
    for step in (eager, compiled):
        branches = [root, root]
        for number in range(8):
            branch = number % 2
            branches[branch] = step(*branches[branch], batch(number), mx.Key(number))[:2]
        ends.append([one.to_host() for branch in branches for one in tensors(*branch)])
    for mine, theirs in zip(*ends, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-5)


def test_a_step_that_ends_in_an_error_leaves_models_and_memory_as_they_are() -> None:
    optimizer = OPTIMIZERS["momentum"]
    compiled = mx.compile(step_of(optimizer))
    model, state = start(optimizer)
    for number in range(6):
        model, state, _ = compiled(model, state, batch(number), mx.Key(number))
        before = [one.to_host().tobytes() for one in tensors(model, state)]
        good = batch(number)
        with pytest.raises(LabelError):
            compiled(model, state, mx.Labelled(good.x, CPU.labels(np.full(8, 10))), mx.Key(number))
        assert [one.to_host().tobytes() for one in tensors(model, state)] == before


def test_the_report_counts_the_memory_of_results() -> None:
    optimizer = OPTIMIZERS["momentum"]
    compiled = mx.compile(step_of(optimizer))
    model, state = start(optimizer)
    compiled(model, state, batch(0), mx.Key(0))
    (trace,) = mx.compile_report(compiled).traces
    assert trace.result_bytes == sum(one.data.nbytes for one in tensors(model, state)) + 4  # and the loss
    assert f"and {trace.result_bytes:,} for results" in str(trace)
