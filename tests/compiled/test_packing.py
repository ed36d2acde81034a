"""Updates of all parameters run as one, and old models stay as they were."""

import gc
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import moonxi as mx
from moonxi.autodiff import constant, variable
from moonxi.compiled.graph import Spec
from moonxi.compiled.packs import Layout, PackedProgram

type Host = mx.NpArray[mx.F64]
type Model = dict[str, Host]

CPU = mx.numpy(mx.F64)
SHAPES = {"weight": (5, 4), "bias": (4,), "kernel": (3, 2, 2)}


def update(model: Model, velocity: Model, gradients: Model, rate: Host) -> tuple[Model, Model]:
    velocity = {name: velocity[name] * 0.9 + gradients[name].tanh() * rate for name in model}
    return {name: model[name] - velocity[name].maximum(-1.0) for name in model}, velocity


def tensors(number: int) -> Model:
    return {name: CPU.normal(shape, mx.Key(number).fold(name)) for name, shape in SHAPES.items()}


def arrays(model: Model) -> list[NDArray[np.floating]]:
    return [tensor.to_host() for tensor in model.values()]


def check_same(one: Model, other: Model) -> None:
    for mine, theirs in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_equal_updates_of_all_parameters_are_one_fusion() -> None:
    compiled = mx.compile(update)
    compiled(tensors(0), tensors(1), tensors(2), CPU.full((), 0.1))
    (trace,) = mx.compile_report(compiled).traces
    assert trace.fusions == (len(trace.graph.nodes),)


def test_models_from_elsewhere_and_mixed_ones_are_updated_right() -> None:
    compiled = mx.compile(update)
    model, velocity, rate = tensors(0), tensors(1), CPU.full((), 0.1)
    for number in range(8):
        gradients = tensors(10 + number)
        if number == 3:
            model = tensors(20)  # as if loaded
        if number == 5:
            model = {**model, "bias": CPU.zeros((4,))}
        if number == 6:
            kernel = np.asfortranarray(model["kernel"].to_host())
            model = {**model, "kernel": mx.NpArray(kernel)}  # lies otherwise in memory
        if number == 7:
            model, velocity = velocity, model
        expected = update(model, velocity, gradients, rate)
        model, velocity = compiled(model, velocity, gradients, rate)
        check_same(model, expected[0])
        check_same(velocity, expected[1])


def test_old_models_and_parts_of_them_stay_as_they_were() -> None:
    compiled = mx.compile(update)
    model, velocity, rate = tensors(0), tensors(1), CPU.full((), 0.1)
    kept: list[tuple[Callable[[], list[NDArray[np.floating]]], list[NDArray[np.floating]]]] = []
    for number in range(8):
        model, velocity = compiled(model, velocity, tensors(10 + number), rate)
        if number % 2:
            part = model["weight"][1:].permute((1, 0))
            buffer = memoryview(velocity["bias"].data)
            kept.append((lambda part=part: [part.to_host()], [part.to_host()]))  # type: ignore[misc]  # of this round
            kept.append((lambda buffer=buffer: [np.array(buffer)], [np.array(buffer)]))  # type: ignore[misc]  # the same
        else:
            kept.append((lambda model=model: arrays(model), arrays(model)))  # type: ignore[misc]  # the same
    for now, before in kept:
        for mine, theirs in zip(now(), before, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_memory_of_a_pack_is_used_again_when_nobody_holds_anything_in_it() -> None:
    def double(x: NDArray[np.floating], *, out: tuple[NDArray[np.floating]]) -> None:
        np.multiply(x, 2.0, out=out[0])

    layout = Layout([Spec((3,), mx.F64), Spec((2, 2), mx.F64)], [None, (1, 0)])
    program = PackedProgram(double, layout, [None], 1, mx.NpArray)

    def run() -> list[mx.NpArray[mx.F64]]:
        return [made for made in program(np.ones(3), np.ones((2, 2))) if isinstance(made, mx.NpArray)]

    first, second = run()
    assert np.array_equal(second.to_host(), np.full((2, 2), 2.0))
    address = first.data.ctypes.data
    parts = [second, second.data, second.data[1:]]
    del first, second
    gc.collect()
    while parts:
        other, _ = run()
        assert other.data.ctypes.data != address
        del parts[0], other, _
    again, _ = run()
    assert again.data.ctypes.data == address


def test_packs_lie_as_what_is_computed_in_the_step() -> None:
    kernels = [CPU.normal((4, 3, 2, 2), mx.Key(n)) for n in (0, 1)]  # row by row, their gradients with channels last
    images = CPU.normal((5, 3, 6, 6), mx.Key(2))

    def step(kernels: list[Host], images: Host) -> list[Host]:
        weights = [variable(kernel) for kernel in kernels]
        x = constant(images)
        gradients = (x.conv2d(weights[0]) * x.conv2d(weights[1])).sum().backward()
        return [kernel - gradients.of(weight) * 0.1 for kernel, weight in zip(kernels, weights, strict=True)]

    compiled = mx.compile(step)
    for _ in range(3):
        expected = step(kernels, images)
        kernels = compiled(kernels, images)
        for mine, theirs in zip(kernels, expected, strict=True):
            np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-12)
            assert mine.data.transpose(0, 2, 3, 1).flags.c_contiguous


@pytest.mark.parametrize("clip", [1e-3, 1e3])
def test_gradients_that_are_not_clipped_are_updated_as_those_that_are(clip: float) -> None:
    def step(model: Model, gradients: Model, most: Host) -> tuple[Model, Model]:
        norm = sum((gradients[name].square().sum() for name in model), start=most.zeros(())).sqrt()
        scale = (most / norm).minimum(1.0)
        scaled = {name: gradients[name] * scale for name in model}
        velocity = {name: scaled[name] * 0.5 + model[name] * scale for name in model}
        return {name: model[name] - velocity[name] for name in model}, velocity

    compiled = mx.compile(step)
    model, most = tensors(0), CPU.full((), clip)
    for number in range(3):
        gradients = tensors(10 + number)
        expected = step(model, gradients, most)
        model, velocity = compiled(model, gradients, most)
        check_same(model, expected[0])
        check_same(velocity, expected[1])
