"""Compiled steps on the GPU: captured as CUDA graphs, they compute what they compute eagerly.

Without fusion that is so bit for bit, and with it up to the rounding of sums over all elements."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from examples.mnist import Mlp, loss
from moonxi import nn, optim
from moonxi.backends.cupy import GpuTensor, plans, tuning
from moonxi.backends.cupy.device import Device
from moonxi.backends.cupy.recording import CudaRecording
from moonxi.compiled import Pass
from moonxi.dtypes import BF16, F32, F64, DType
from moonxi.errors import LabelError
from tests.backends.on_gpu import gpu_or_skip
from tests.compiled.test_training_steps import Small, small_loss

pytestmark = pytest.mark.gpu

type Gpu = GpuTensor[F32]
type Model = Mlp[Gpu]
type State = optim.OptimizerState[Gpu, Model]
type Step = Callable[[Model, State, mx.Labelled[Gpu], mx.Key], tuple[Model, State, Gpu]]

OPTIMIZERS: dict[type[DType], optim.Sgd] = {
    dtype: optim.Sgd(
        lr=optim.step_decay(0.05, every=optim.Steps(3), factor=0.5),
        momentum=0.9,
        weight_decay=1e-4,
        clip_norm=clip_norm,
    )
    for dtype, clip_norm in ((F32, None), (F64, 1.0))
}
"""In F64 with sums over all elements, which are computed at once where that is possible."""


@pytest.fixture(name="gpu", params=[F32, F64], ids=["bits", "fused"])
def _gpu(request: pytest.FixtureRequest) -> Gpu:
    made: Gpu = gpu_or_skip(request.param)()
    return made


def compiled_for[F: Callable[..., Any]](gpu: Gpu, step: F) -> F:
    bits: tuple[Pass, ...] = "fusion", "biases_before_norms", "tuned_plans"
    return mx.compile(step, without=bits if gpu.dtype is F32 else ("tuned_plans",))


def check(found: Any, expected: Any) -> None:
    """Models, tensors or numbers: the same bits in F32, where nothing is fused, and close in F64."""
    if isinstance(found, nn.Module):
        for mine, theirs in zip(bits(found), bits(expected), strict=True):
            check(mine, theirs)
    elif np.asarray(found).dtype == np.float32:
        assert np.array_equal(found, expected)
    else:
        # The gradient of a bias before a norm is noise of rounding eagerly, from which Adam makes small steps.
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-8)


def step(model: Model, state: State, batch: mx.Labelled[Gpu], key: mx.Key) -> tuple[Model, State, Gpu]:
    (value, _), gradients = nn.value_and_grad(loss, model, batch, nn.Train(key))
    return (*OPTIMIZERS[batch.x.dtype].update(model, gradients, state), value)


def batch_of(gpu: Gpu, number: int) -> mx.Labelled[Gpu]:
    return mx.Labelled(gpu.uniform((8, 784), mx.Key(number)), gpu.labels(np.arange(8) * (number + 1) % 10))


def trained(gpu: Gpu, step: Step, kept: list[Any], steps: int = 9) -> tuple[Model, list[float]]:
    """``kept`` gets every third model, and is what else somebody holds."""
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    losses = []
    for number in range(steps):
        model, state, value = step(model, state, batch_of(gpu, number), mx.Key(number))
        losses.append(value)
        if number % 3 == 2:
            kept.append(model)
    return model, [one.item() for one in losses]


def found_type(gpu: Gpu) -> type[np.floating[Any]]:
    return np.float32 if gpu.dtype is F32 else np.float64


def bits(model: nn.Module[Gpu]) -> list[NDArray[Any]]:
    return [x.to_host() for tensors in model.named_tensors() for x in tensors.values()]


def graphs(compiled: Any) -> int:
    """How many CUDA graphs were launched instead of the operations."""
    return sum(trace.peak_bytes > 0 for trace in mx.compile_report(compiled).traces)


@pytest.mark.filterwarnings("error")
def test_training_gives_the_same_bits_and_old_models_stay_what_they_were(gpu: Gpu) -> None:
    expected_models: list[Model] = []
    expected, expected_losses = trained(gpu, step, expected_models)
    compiled = compiled_for(gpu, step)
    models: list[Model] = []
    found, losses = trained(gpu, compiled, models)
    check(np.array(losses, found_type(gpu)), expected_losses)
    check(found, expected)
    for mine, theirs in zip(models, expected_models, strict=True):
        check(mine, theirs)
    assert graphs(compiled) == 1


def test_a_view_of_an_old_parameter_stays_what_it_was(gpu: Gpu) -> None:
    compiled = compiled_for(gpu, step)
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    views, copies = [], []
    for number in range(7):
        model, state, _ = compiled(model, state, batch_of(gpu, number), mx.Key(0))
        weight = model.hidden.weight if hasattr(model, "hidden") else next(iter(model.named_tensors()[0].values()))
        views.append((weight.transpose(), weight[1:3, 2:]))
        copies.append((weight.to_host().T.copy(), weight.to_host()[1:3, 2:].copy()))
    for seen, copied in zip(views, copies, strict=True):
        for one, other in zip(seen, copied, strict=True):
            assert np.array_equal(one.to_host(), other)


def test_memory_that_another_library_knows_of_is_not_written_to(gpu: Gpu) -> None:
    compiled = compiled_for(gpu, step)
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    given, copies = [], []
    for number in range(6):
        model, state, _ = compiled(model, state, batch_of(gpu, number), mx.Key(0))
        weight = next(iter(model.named_tensors()[0].values()))
        interface = weight.__cuda_array_interface__
        given.append((interface["data"], weight))
        copies.append(weight.to_host())
    for (address, weight), copied in zip(given, copies, strict=True):
        assert weight.__cuda_array_interface__["data"] == address
        assert np.array_equal(weight.to_host(), copied)


def test_a_step_goes_on_from_any_model(gpu: Gpu) -> None:
    compiled = compiled_for(gpu, step)
    start = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(start)
    one, after_one, _ = compiled(start, state, batch_of(gpu, 0), mx.Key(0))
    two, _, _ = compiled(one, after_one, batch_of(gpu, 1), mx.Key(0))
    again, _, _ = compiled(one, after_one, batch_of(gpu, 1), mx.Key(0))
    check(two, again)
    first, _, _ = compiled(start, state, batch_of(gpu, 0), mx.Key(0))
    check(first, one)
    mixed, _, _ = compiled(two, after_one, batch_of(gpu, 2), mx.Key(0))
    expected, _, _ = step(two, after_one, batch_of(gpu, 2), mx.Key(0))
    check(mixed, expected)


def test_two_steps_alive_at_once_do_not_disturb_each_other(gpu: Gpu) -> None:
    steps = [compiled_for(gpu, step), compiled_for(gpu, lambda *arguments: step(*arguments))]
    models = [Mlp.init(gpu, mx.Key(seed)) for seed in range(2)]
    expected = list(models)
    states = [OPTIMIZERS[gpu.dtype].init(model) for model in models]
    others = list(states)
    for number in range(6):
        for place in range(2):
            arguments = batch_of(gpu, number), mx.Key(0)
            models[place], states[place], _ = steps[place](models[place], states[place], *arguments)
            expected[place], others[place], _ = step(expected[place], others[place], *arguments)
    for mine, theirs in zip(models, expected, strict=True):
        check(mine, theirs)


def test_dropout_and_batch_statistics_differ_from_replay_to_replay_as_they_do_eagerly(gpu: Gpu) -> None:
    optimizer = optim.Adam(lr=0.01, epsilon=1e-3)  # the gradient of a bias before a norm is rounding alone

    def step(model: Any, state: Any, batch: Any, key: mx.Key) -> Any:
        value, gradients = nn.value_and_grad(small_loss, model, batch, nn.Train(key))
        return (*optimizer.update(model, gradients, state), value, key.fold(1))

    def run(step: Any) -> tuple[Any, list[float]]:
        model = Small.init(gpu, mx.Key(0))
        state, key, found = optimizer.init(model), mx.Key(7), []
        for number in range(6):
            batch = mx.Labelled(gpu.normal((6, 1, 5, 5), mx.Key(number)), gpu.labels(np.arange(6) % 3))
            model, state, value, key = step(model, state, batch, key)
            found.append(value.item())
        return model, found

    model, expected = run(step)
    other, found = run(compiled_for(gpu, step))
    check(np.array(found, found_type(gpu)), expected)
    check(model, other)


def test_inference_is_captured_too(gpu: Gpu) -> None:
    model = Small.init(gpu, mx.Key(0))

    def eager(model: Small[Gpu], x: Gpu) -> Gpu:
        return model.forward(x, nn.Eval()).value

    forward = compiled_for(gpu, eager)
    results = [forward(model, gpu.normal((2, 1, 4, 4), mx.Key(number))) for number in range(4)]
    for number, found in enumerate(results):
        expected = model.forward(gpu.normal((2, 1, 4, 4), mx.Key(number)), nn.Eval()).value
        check(found.to_host(), expected.to_host())


def test_what_comes_in_comes_out_and_results_that_share_memory_stay_apart(gpu: Gpu) -> None:
    def step(x: Gpu, y: Gpu) -> tuple[Gpu, Gpu, Gpu, Gpu]:
        z = x + y
        return z, z.transpose(), x, y.reshape((4,))

    compiled = compiled_for(gpu, step)
    x, y = gpu.from_host(np.ones((2, 2))), gpu.from_host(np.arange(4.0).reshape(2, 2))
    held = []
    for _ in range(6):
        expected = step(x, y)
        found = compiled(x, y)
        held.append((found, [one.to_host() for one in expected]))
        x, y = found[0], found[1]
    for results, values in held:
        for one, value in zip(results, values, strict=True):
            check(one.to_host(), value)


def test_a_label_that_is_no_class_is_found_in_a_replay(gpu: Gpu) -> None:
    compiled = compiled_for(gpu, step)
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    for number in range(4):
        model, state, _ = compiled(model, state, batch_of(gpu, number), mx.Key(0))
    wrong = mx.Labelled(gpu.uniform((8, 784), mx.Key(0)), gpu.labels(np.arange(8) + 3))
    _, _, value = compiled(model, state, wrong, mx.Key(0))
    with pytest.raises(LabelError, match="label 10"):
        value.item()
    _, _, value = compiled(model, state, batch_of(gpu, 5), mx.Key(0))
    assert np.isfinite(value.item())


def test_memory_stays_the_same_over_many_steps(gpu: Gpu) -> None:
    import cupy

    compiled = compiled_for(gpu, step)
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    used = []
    for number in range(60):
        model, state, _ = compiled(model, state, batch_of(gpu, number % 3), mx.Key(number))
        used.append(cupy.get_default_memory_pool().used_bytes())
    assert used[20:] == [used[20]] * 40


def test_what_the_first_calls_needed_is_given_back_once(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[int] = []
    release = Device.release_unused

    def noted(device: Device) -> None:
        released.append(number)
        release(device)

    monkeypatch.setattr(Device, "release_unused", noted)
    compiled = compiled_for(gpu, step)
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    for number in range(4):
        model, state, _ = compiled(model, state, batch_of(gpu, number % 3), mx.Key(number))
    assert released == [1, 2]  # what the first call has computed in, and what it has given out


def test_fewer_kernels_are_launched_than_operations_traced(gpu: Gpu) -> None:
    compiled = mx.compile(step)
    model = Mlp.init(gpu, mx.Key(0))
    compiled(model, OPTIMIZERS[gpu.dtype].init(model), batch_of(gpu, 0), mx.Key(0))
    (trace,) = mx.compile_report(compiled).traces
    assert sum(trace.fusions) > trace.nodes_left / 2


def test_parameters_kept_in_single_precision_are_used_in_half_of_it(gpu: Any) -> None:
    wide, optimizer = gpu.dtype, OPTIMIZERS[gpu.dtype]

    def half_step(model: Any, state: Any, batch: mx.Labelled[Any], key: mx.Key) -> tuple[Any, Any, Any]:
        low, narrow = model.map(lambda x: x.cast(BF16)), mx.Labelled(batch.x.cast(BF16), batch.labels)
        (value, _), gradients = nn.value_and_grad(loss, low, narrow, nn.Train(key))
        return (*optimizer.update(model, gradients.map(lambda x: x.cast(wide)), state), value)

    model = expected = Mlp.init(gpu, mx.Key(0))
    state = other = optimizer.init(model)
    compiled = compiled_for(gpu, half_step)
    for number in range(5):
        batch = batch_of(gpu, number)
        model, state, value = compiled(model, state, batch, mx.Key(number))
        expected, other, theirs = half_step(expected, other, batch, mx.Key(number))
        assert (model.first.weight.dtype, value.dtype) == (wide, BF16)
        np.testing.assert_allclose(value.item(), theirs.item(), rtol=1e-2)
    if wide is F32:
        check(model, expected)


@pytest.mark.parametrize(("without", "tuned"), [((), True), (("tuned_plans",), False)])
def test_all_plans_of_a_compiled_step_are_tuned_or_none(
    without: tuple[Pass, ...], tuned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    plan = plans.Convolution.plan

    def noted(self: plans.Convolution, kind: plans.Kind, space: Any) -> plans.Plan | None:
        asked.append(tuning.is_wanted())
        return plan(self, kind, space)

    gpu: Gpu = gpu_or_skip(F32)()
    x, weight = gpu.normal((2, 3, 5, 5), mx.Key(0)), gpu.normal((4, 3, 3, 3), mx.Key(1))
    monkeypatch.setattr(plans.Convolution, "plan", noted)

    def step(x: Gpu, weight: Gpu) -> Gpu:
        return x.conv2d(weight)

    compiled = mx.compile(step, without=without)
    for _ in range(3):
        compiled(x, weight)
    assert len(asked) == 3  # the first call, and of a recording the run before the capture and that one
    assert set(asked) == {tuned}
    x.conv2d(weight)
    assert asked[-1] is False


def test_tensors_of_other_settings_are_traced_anew() -> None:
    def step[T: mx.MlpTensor](x: T) -> T:
        return x @ (x + x.ones(()))

    plain, tuned = gpu_or_skip(F32)(), gpu_or_skip(F32, autotune=True)()
    compiled = mx.compile(step, without=("tuned_plans",))
    for like in (plain, tuned, plain, tuned):
        x = like.normal((3, 3), mx.Key(0))
        found = compiled(x)
        assert found.space is like.space
        np.testing.assert_allclose(found.to_host(), step(x).to_host(), rtol=1e-5, atol=1e-6)
    reports = mx.compile_report(compiled).traces
    assert [one.replays for one in reports] == [1, 1]
    assert reports[1].because == "x is computed with other settings, such as another device"


def test_results_lie_in_the_same_memory_every_second_time_as_long_as_nobody_holds_them(gpu: Gpu) -> None:
    compiled = compiled_for(gpu, step)
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    places: list[list[int]] = []
    for number in range(8):
        model, state, value = compiled(model, state, batch_of(gpu, number), mx.Key(0))
        places.append([x.data.pointer for tensors in model.named_tensors() for x in tensors.values()])
        places[-1].append(value.data.pointer)
        del value
    assert places[2] == places[4] == places[6]
    assert places[3] == places[5] == places[7]
    assert not set(places[2]) & set(places[3])


def test_another_library_gets_an_address_that_is_never_written_to_again(gpu: Gpu) -> None:
    compiled = compiled_for(gpu, step)
    model = Mlp.init(gpu, mx.Key(0))
    state = OPTIMIZERS[gpu.dtype].init(model)
    for number in range(4):
        model, state, _ = compiled(model, state, batch_of(gpu, number), mx.Key(0))
    weight = next(iter(model.named_tensors()[0].values()))
    view = weight.reshape((-1,))[1:]
    written = weight.data.pointer
    interface: Any = weight.__cuda_array_interface__
    before = weight.to_host()
    assert interface["data"][0] == weight.data.pointer != written
    for number in range(4):
        model, state, _ = compiled(model, state, batch_of(gpu, number), mx.Key(0))
        assert interface["data"][0] == weight.data.pointer
        assert np.array_equal(weight.to_host(), before)
        assert np.array_equal(view.to_host(), before.reshape(-1)[1:])
    assert graphs(compiled) == 1


@pytest.mark.parametrize("n", [2, 5, 70])
def test_many_steps_are_one_launch_and_give_what_they_give_one_by_one(
    gpu: Gpu, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[int] = []
    runs: list[int] = []
    run_on = CudaRecording.run_on

    def counted(recording: CudaRecording, inputs: Any, rows: Any, counts: Any, keys: Any) -> Sequence[object]:
        at_once.append(counts[0])
        results = run_on(recording, inputs, rows, counts, keys)
        assert recording._many is not None
        runs.append(recording._many.runs)
        return results

    monkeypatch.setattr(CudaRecording, "run_on", counted)

    def noisy(model: Model, state: State, batch: mx.Labelled[Gpu], key: mx.Key) -> tuple[Model, State, Gpu]:
        return step(model, state, mx.Labelled(batch.x + batch.x.normal(batch.x.shape, key) * 0.1, batch.labels), key)

    fused = compiled_for(gpu, noisy)
    epoch, one_by_one = mx.repeat(fused, n), compiled_for(gpu, noisy)
    model = expected = Mlp.init(gpu, mx.Key(0))
    state = other = OPTIMIZERS[gpu.dtype].init(model)
    kept: list[Any] = []
    for number in range(3):
        data = mx.Labelled(gpu.uniform((n * 2, 784), mx.Key(number)), gpu.labels(np.arange(n * 2) * (number + 1) % 10))
        before = model
        copies = bits(before)
        model, state, value = epoch(model, state, data, mx.Key(number))
        kept.append((model, bits(model)))
        losses = []
        parts = [mx.Labelled(data.x[2 * k : 2 * k + 2], data.labels[2 * k : 2 * k + 2]) for k in range(n)]
        for place, part in enumerate(parts):
            expected, other, theirs = one_by_one(expected, other, part, mx.Key(number).fold(place))
            losses.append(theirs.item())
        check(np.array(value.item(), found_type(gpu)), losses[-1])
        check(model, expected)
        assert all(map(np.array_equal, bits(before), copies))
    for old, copied in kept:
        assert all(map(np.array_equal, bits(old), copied))
    last = batch_of(gpu, 1)
    last = mx.Labelled(last.x[:2], last.labels[:2])
    again, _, _ = fused(model, state, last, mx.Key(9))  # from there on one by one
    right, _, _ = one_by_one(expected, other, last, mx.Key(9))
    check(again, right)
    assert mx.compile_report(epoch).traces[0].replays == 3 * n  # and one that was traced, and one by itself
    assert at_once == [n - 2, n, n][n == 2 :]
    # Of 70 two launches and two single runs, where 64 at one would leave six; five launches where a graph is large.
    assert {*runs} == {{2: 2, 5: 4, 70: 14 if gpu.dtype is F32 else 34}[n]}
    assert graphs(epoch) == 1
