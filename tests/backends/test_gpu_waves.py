"""Small tensors on the GPU in waves: few kernels, which compute what the operations compute one by one."""

from collections.abc import Callable
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import moonxi as mx
from examples.mnist import Mlp, loss
from moonxi import nn, optim
from moonxi.backends.cupy import sources
from moonxi.backends.cupy.layouts import row_major
from moonxi.backends.cupy.wave_source import wave_source
from moonxi.compiled.graph import Graph
from moonxi.compiled.interpreter import interpreted
from moonxi.compiled.small import ADDRESSES, small_runs
from moonxi.compiled.structure import flattened
from moonxi.dtypes import BF16, F16, F32, F64
from moonxi.errors import LabelError
from moonxi.waves import Form, Waves, addresses
from tests.backends.on_gpu import gpu_or_skip
from tests.backends.test_gpu_sources import compiled, nvrtc_is_missing
from tests.compiled.test_random_programs import NAMES, arrays
from tests.compiled.test_random_programs import step as program_step

ELEMENTS = [pytest.param(element, id=element.__name__) for element in (F32, F64, F16, BF16)]
TOLERANCES = {F32: 1e-5, F64: 1e-13, F16: 4e-3, BF16: 3e-2}


def graph_of(step: Callable[..., object], *arguments: object) -> tuple[Graph, list[object]]:
    """The graph of a step, small runs as waves, and its inputs."""
    made = mx.compile(step)
    made(*arguments)
    found, _ = flattened((arguments, {}), "the arguments")
    return small_runs(mx.compile_report(made).traces[0].graph), found.leaves


def waves_of(graph: Graph) -> list[Waves]:
    return [how for node in graph.nodes if isinstance(how := (*node.arguments, None)[1], Waves)]


def check(step: Callable[..., Any], *arguments: Any, tolerance: float, kernels: int | None = None) -> Graph:
    """A step gives what it gives eagerly, and in so many kernels, none of which is for one operation."""
    graph, inputs = graph_of(step, *arguments)
    (waves,) = waves_of(graph)
    assert kernels is None or (len(graph.nodes), len(waves.waves)) == (1, kernels)
    expected, _ = flattened(step(*arguments), "the results")
    both: Any = zip(interpreted(graph, inputs), expected.leaves, strict=True)
    for mine, theirs in both:
        found, right = (np.asarray(one.to_host(), np.float64) for one in (mine, theirs))
        scale = max(1.0, float(np.max(np.abs(right))))
        np.testing.assert_allclose(found, right, rtol=0, atol=tolerance * scale)
    return graph


def training_step(model: Any, state: Any, batch: Any) -> Any:
    optimizer = optim.Sgd(lr=0.05, momentum=0.9, weight_decay=1e-3, clip_norm=0.5)
    (value, _), gradients = nn.value_and_grad(loss, model, batch, nn.Eval())
    return (*optimizer.update(model, gradients, state), value)


def training(like: Any, batch: int) -> tuple[Any, Any, Any]:
    model = Mlp.init(like, mx.Key(0))
    state = optim.Sgd(lr=0.05, momentum=0.9, weight_decay=1e-3, clip_norm=0.5).init(model)
    return model, state, mx.Labelled(like.uniform((batch, 784), mx.Key(1)), like.labels(np.arange(batch) % 10))


@pytest.mark.gpu
@pytest.mark.parametrize("element", ELEMENTS)
def test_a_training_step_of_a_small_network_is_four_kernels(element: Any) -> None:
    like = gpu_or_skip(element)()
    graph = check(training_step, *training(like, 64), tolerance=TOLERANCES[element], kernels=4)
    (waves,) = waves_of(graph)
    assert [{task.form for task in wave.tasks} for wave in waves.waves] == [
        {Form.TILES}, {Form.ROWS}, {Form.TILES}, {Form.FLAT},
    ]  # fmt: skip


@pytest.mark.gpu
@pytest.mark.parametrize("batch", [1, 2, 7, 129, 200, 300])
def test_any_number_of_rows(batch: int) -> None:
    check(training_step, *training(gpu_or_skip(F64)(), batch), tolerance=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("element", [F64, BF16])
@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(1, 1, 1), (3, 5, 2), (64, 784, 10), (130, 33, 77), (9, 1500, 65)]
)
def test_products_of_matrices_that_lie_anyhow(element: Any, rows: int, inner: int, columns: int) -> None:
    like = gpu_or_skip(element)()

    def products(a: Any, b: Any, c: Any) -> Any:
        left, right = a.permute((1, 0)) * 0.5, b.permute((1, 0))
        return (
            left @ b,
            a.permute((1, 0)) @ b,
            (left @ b).relu() + c,
            b.permute((1, 0)) @ a,
            (left @ b).sum(0),
            right @ a,
        )

    keys = mx.Key(rows).split(3)
    a, b = (like.normal((inner, size), key) for size, key in zip((rows, columns), keys[:2], strict=True))
    c = like.normal((1, columns), keys[2])
    check(products, a, b, c, tolerance=2e-13 if element is F64 else 3e-2)
    every_second = like.normal((2 * inner, rows), keys[0])[::2]
    check(products, every_second, b[::-1], c, tolerance=2e-13 if element is F64 else 3e-2)


@pytest.mark.gpu
@pytest.mark.parametrize("element", [F32, F64])
def test_rows_stay_in_a_block_from_product_to_product(element: Any) -> None:
    like = gpu_or_skip(element)()

    def rows(x: Any, first: Any, second: Any, scale: Any) -> Any:
        hidden = (x @ first).tanh()
        attention = (hidden @ second).softmax(-1)
        centred = attention - attention.sum(1, keepdims=True) / 20.0
        shown = centred - centred.max(1, keepdims=True)
        return shown * scale.square().sum(), (shown @ first.permute((1, 0))).square().sum(), hidden.sum(0)

    x, first = like.normal((50, 30), mx.Key(0)), like.normal((30, 40), mx.Key(1))
    second, scale = like.normal((40, 20), mx.Key(2)), like.normal((3,), mx.Key(3))
    second = second @ like.normal((20, 40), mx.Key(4))[:, :40]
    check(rows, x, first, second[:, :40], scale, tolerance=20 * TOLERANCES[element])


@pytest.mark.gpu
def test_a_label_that_is_no_class_is_reported() -> None:
    like = gpu_or_skip(F32)()
    step = mx.compile(training_step)
    model, state, batch = training(like, 5)
    for _ in range(3):
        model, state, value = step(model, state, batch)
        value.item()
    wrong = mx.Labelled(batch.x, like.labels(np.array([0, 1, 10, 2, 3])))
    model, state, value = step(model, state, wrong)
    with pytest.raises(LabelError, match=r"label 10, number 2 of the labels, is not a class from 0 to 9"):
        value.item()


@pytest.mark.gpu
def test_what_is_given_out_never_lies_where_something_of_its_size_is_handed_on() -> None:
    like = gpu_or_skip(F32)()

    def step(count: Any, x: Any) -> Any:
        return x.square().sum() * 0.5, count + 1.0, (x @ x).sum() * 2.0

    compiled_step: Any = mx.compile(step)
    count, x = like.zeros(()), like.full((2, 2), 3.0)
    for number in range(1, 6):
        before, count, after = compiled_step(count, x)
        assert (before.item(), count.item(), after.item()) == (18.0, number, 144.0)


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_random_programs(name: str) -> None:
    like = gpu_or_skip(F64)()
    program = (("product", 0, 1), (name, 2, 0), ("picked", 1, 3), ("softmax", 3, 0), ("multiply", 4, 3))
    x, y = (like.normal((3, 4), key) for key in mx.Key(0).split())
    labels = like.labels(np.array([0, 3, 1]))
    graph, inputs = graph_of(program_step, program, x, y, labels)
    assert waves_of(graph)
    eager: Any = program_step
    expected = arrays(eager(program, x, y, labels))
    for mine, theirs in zip(interpreted(graph, inputs), expected, strict=True):
        found: Any = mine
        np.testing.assert_allclose(found.to_host(), theirs, rtol=1e-10, atol=1e-11)


@pytest.mark.gpu
@pytest.mark.parametrize("axes", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("shape", [(1, 33), (33, 1), (1, 1), (2, 3)])
def test_a_sum_is_no_largest_whatever_is_left_of_them(shape: tuple[int, int], axes: Any) -> None:
    like = gpu_or_skip(F64)()

    def step(x: Any, y: Any) -> Any:
        largest = (x.max(axes), y.min(axes, keepdims=True))
        return *largest, x.sum(axes), largest[0] * 2.0 + 1.0, x.softmax(1).max(axes), y.softmax(1)

    x, y = (like.normal(shape, key) for key in mx.Key(0).split())
    graph, inputs = graph_of(step, x, y)
    assert waves_of(graph)
    for mine, theirs in zip(interpreted(graph, inputs), step(x, y), strict=True):
        found: Any = mine
        np.testing.assert_allclose(found.to_host(), theirs.to_host(), rtol=1e-12, atol=1e-12)


@pytest.mark.gpu
def test_more_arrays_than_a_kernel_has_room_for() -> None:
    like = gpu_or_skip(F32)()

    def step(x: Any, *parameters: Any) -> Any:
        total = (x @ x).sum()
        return tuple(one + total for one in parameters)

    x, parameters = like.normal((3, 3), mx.Key(0)), [like.normal((2, 1 + n), mx.Key(n)) for n in range(250)]
    graph, inputs = graph_of(step, x, *parameters)
    parts = waves_of(graph)
    assert len(parts) > 1
    assert max(len(addresses(one, place)) for one in parts for place in range(len(one.waves))) <= ADDRESSES
    both: Any = zip(interpreted(graph, inputs), step(x, *parameters), strict=True)
    for mine, theirs in both:
        np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-5, atol=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("element", [F32, F64])
def test_wide_rows_fit_into_a_block(element: Any) -> None:
    like = gpu_or_skip(element)()

    def step(x: Any, *weights: Any) -> Any:
        for weight in weights:
            x = (x @ weight).tanh()
        return x.log_softmax(-1), x.sum(0)

    sizes = (120, 130, 125, 110, 131, 100, 90)
    weights = [like.normal(pair, mx.Key(n)) * 0.1 for n, pair in enumerate(pairwise(sizes))]
    check(step, like.normal((700, 120), mx.Key(9)), *weights, tolerance=10 * TOLERANCES[element])


def planned(element: Any) -> Waves:
    """The waves of a training step, for which no GPU is needed."""
    like: Any = mx.numpy(element)
    made = mx.compile(training_step, without=("softmax_rules",))
    made(*training(like, 64))
    (waves,) = waves_of(small_runs(mx.compile_report(made).traces[0].graph))
    return waves


@nvrtc_is_missing
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_the_kernels_of_a_training_step_compile(element: Any, architecture: str) -> None:
    waves = planned(F32 if element in (F16, BF16) else element)
    strides = [row_major(value.shape) for value in waves.values[: waves.operands]]
    assert compiled(wave_source(waves, strides, element, 132).text, architecture, sources.EXACT) == ""


def test_a_kernel_can_be_read() -> None:
    like: Any = mx.numpy(F32)

    def step(x: Any, weight: Any, bias: Any) -> Any:
        return ((x @ weight + bias).relu(),)

    made = mx.compile(step)
    made(like.ones((64, 100)), like.ones((100, 32)), like.ones((32,)))
    (waves,) = waves_of(small_runs(mx.compile_report(made).traces[0].graph))
    text = wave_source(waves, [(100, 1), (32, 1), (1,)], F32, 132).text
    stored = files(__package__).joinpath("wave.cu").read_text(encoding="utf-8")
    assert text[text.index("struct Words") :] == stored
