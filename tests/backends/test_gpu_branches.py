"""Compiled steps on several streams: the same bits as on one, in whatever order a graph does what need not wait.

Without a GPU, the graphs are launched in other orders each time (`tests.backends.on_host.streams`)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import moonxi as mx
from moonxi import nn, optim
from moonxi.backends.cupy import GpuTensor
from moonxi.backends.cupy import branches as streams
from moonxi.compiled import Pass, branches, device_plan
from moonxi.dtypes import F64
from tests.backends.on_gpu import ON_HOST, gpu_or_skip
from tests.backends.test_gpu_recording import graphs
from tests.compiled.test_random_programs import Program, programs, values_of
from tests.compiled.test_training_steps import Small, small_loss

pytestmark = pytest.mark.gpu

type Gpu = GpuTensor[F64]

PLAIN: tuple[Pass, ...] = ("fusion", "tuned_plans", "biases_before_norms")


@pytest.fixture(name="gpu")
def _gpu() -> Gpu:
    made: Gpu = gpu_or_skip(F64)()
    return made


@pytest.fixture(autouse=True)
def many_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that need not wait leaves the first stream, however short it is."""
    monkeypatch.setattr(device_plan, "BRANCHES", 4)
    monkeypatch.setattr(branches, "WORTH", 0.0)
    monkeypatch.setattr(branches, "SLACK", 2.0)


def program_step(program: Program, x: Gpu, y: Gpu, labels: mx.Labels[Gpu]) -> tuple[tuple[Gpu, ...], Gpu, Gpu]:
    """The last values, a gradient, and what comes in again at the next call."""

    def total(z: mx.ImageGrad[Gpu]) -> mx.ImageGrad[Gpu]:
        return values_of(program, z, mx.constant(y), labels.map(mx.constant))[-1].sum()

    gradient = mx.grad(total, x)
    return values_of(program, x, y, labels), gradient, x - 0.1 * gradient


def bits(result: Any) -> list[Any]:
    values, *others = result
    return [one.to_host() for one in (*values, *others)]


def check(gpu: Gpu, program: Program, without: tuple[Pass, ...], *, calls: int = 5) -> int:
    """How many calls were those of a graph."""
    compiled = mx.compile(program_step, without=without)
    x = other = gpu.normal((3, 4), mx.Key(1))
    held = []
    for number in range(calls):
        y = gpu.normal((3, 4), mx.Key(2).fold(number))
        labels = gpu.labels(np.array([number % 4, 3 - number % 4, 1]))
        expected, found = program_step(program, other, y, labels), compiled(program, x, y, labels)
        x, other = found[-1], expected[-1]
        held.append((found, bits(expected)))
    for found, expected_bits in held:
        for mine, theirs in zip(bits(found), expected_bits, strict=True):
            if without:
                np.testing.assert_array_equal(mine, theirs)
            else:
                np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)
    return graphs(compiled)


@given(programs)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.filterwarnings("error")
def test_random_programs_give_the_same_bits_on_four_streams(gpu: Gpu, program: Program) -> None:
    assert check(gpu, program, PLAIN) == 1


@pytest.mark.slow
@given(programs)
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.filterwarnings("error")
def test_many_random_programs_give_the_same_bits_on_four_streams(gpu: Gpu, program: Program) -> None:
    assert check(gpu, program, PLAIN) == 1


@pytest.mark.slow
@given(programs)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.filterwarnings("error")
def test_random_programs_are_right_on_four_streams_with_formulas(gpu: Gpu, program: Program) -> None:
    assert check(gpu, program, ()) == 1


@pytest.mark.parametrize("without", [(), PLAIN], ids=["fused", "bits"])
@pytest.mark.filterwarnings("error")
def test_a_training_step_with_convolutions_on_four_streams(
    gpu: Gpu, without: tuple[Pass, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_MOST", 1 << 10)
    optimizer = optim.Sgd(lr=0.01, momentum=0.9, clip_norm=1.0)

    def step(model: Any, state: Any, batch: Any, key: mx.Key) -> Any:
        value, gradients = nn.value_and_grad(small_loss, model, batch, nn.Train(key))
        return (*optimizer.update(model, gradients, state), value)

    def run(step: Any) -> tuple[Any, list[float]]:
        model = Small.init(gpu, mx.Key(0))
        state, found = optimizer.init(model), []
        for number in range(8):
            batch = mx.Labelled(gpu.normal((6, 1, 5, 5), mx.Key(number)), gpu.labels(np.arange(6) % 3))
            model, state, value = step(model, state, batch, mx.Key(number))
            found.append(value.item())
        return model, found

    compiled = mx.compile(step, without=without)
    (model, expected), (other, found) = run(step), run(compiled)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    for mine, theirs in zip(model.named_tensors(), other.named_tensors(), strict=True):
        for name, tensor in mine.items():
            np.testing.assert_allclose(tensor.to_host(), theirs[name].to_host(), rtol=1e-7, atol=1e-9)
    assert graphs(compiled) == 1


# -- the faults that the others would find -----------------------------------------------------------------------------

WIDE: Program = (
    ("product", 0, 1),
    ("softmax", 1, 2),
    ("multiply", 0, 1),
    ("divide", 2, 1),
    ("product", 1, 0),
    ("power", 2, 0),
    ("scale", 0, 3),
    ("add", 0, 2),
)


def is_wrong(gpu: Gpu) -> bool:
    try:
        check(gpu, WIDE, PLAIN, calls=12)
    except (AssertionError, RuntimeWarning):  # of numbers that are none
        return True
    return False


@pytest.mark.emulated
@pytest.mark.skipif(not ON_HOST, reason="a GPU may do by chance what it does not have to")
def test_streams_that_do_not_wait_are_found_out(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_wrong(gpu)
    wait = streams.Branches._wait

    def only_at_the_end(self: streams.Branches, branch: Any, made: Any) -> None:
        if branch.number == 0 and made.number == len(self._all[made.branch].marks):
            wait(self, branch, made)

    monkeypatch.setattr(streams.Branches, "_wait", only_at_the_end)
    assert is_wrong(gpu)


@pytest.mark.emulated
@pytest.mark.skipif(not ON_HOST, reason="a GPU may do by chance what it does not have to")
def test_memory_that_is_let_go_too_early_is_found_out(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams.Branches, "_let_go", lambda self, branch: branch.held.clear())
    assert is_wrong(gpu)


@pytest.mark.emulated
@pytest.mark.skipif(not ON_HOST, reason="memory of a GPU comes from a pool for each stream in any case")
def test_one_pool_for_all_streams_is_found_out(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def allocate(self: streams.Branches, size: int) -> Any:
        return self._all[0].pool.malloc(size)

    monkeypatch.setattr(streams.Branches, "allocate", allocate)
    assert is_wrong(gpu)
