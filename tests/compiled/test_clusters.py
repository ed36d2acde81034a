"""What is compiled for a device: formulas in the place of element-wise operations, and a program that is repeated."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import moonxi as mx
from moonxi.compiled.device_plan import DevicePlan
from moonxi.compiled.graph import Graph, Node
from moonxi.formulas import Formula
from tests.compiled.device_array import DeviceArray, device
from tests.compiled.test_random_programs import COLUMNS, NAMES, ROWS, Program, arrays, programs, step

type Array = DeviceArray[mx.F64]

DEVICE: Any = device(mx.F64)


def check(program: Program) -> None:
    compiled = mx.compile(step)
    for number in range(3):
        x, y = (DEVICE.normal((ROWS, COLUMNS), key) for key in mx.Key(number).split())
        labels = DEVICE.labels(np.array([number, 3 - number, 1]))
        expected = arrays(step(program, x, y, labels))
        for mine, theirs in zip(arrays(compiled(program, x, y, labels)), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_is_right_among_formulas(name: str) -> None:
    check(((name, 0, 1), (name, 0, 1), ("multiply", 0, 1)))


@given(programs)
@settings(max_examples=100)
def test_random_programs_are_right_as_formulas(program: Program) -> None:
    check(program)


@pytest.mark.slow
@given(programs)
@settings(max_examples=1000)
def test_a_thousand_random_programs_are_right_as_formulas(program: Program) -> None:
    check(program)


def planned(step: Callable[..., object], *arguments: object) -> tuple[Graph, list[Node]]:
    """The graph as it was optimised, and the nodes that the device is given."""
    compiled = mx.compile(step)
    compiled(*arguments)
    graph = mx.compile_report(compiled).traces[0].graph
    tensor = next(one for one in arguments if isinstance(one, DeviceArray))
    plan = DevicePlan(graph, tensor, compiled(*arguments), ())  # type: ignore[arg-type]  # a tuple of tensors
    return graph, list(plan.work.nodes)


def formulas(nodes: list[Node]) -> list[tuple[list[str], int]]:
    """The operations of each formula, and of how many members."""
    return [
        ([one.operation for one in node.arguments[1].steps], len(node.arguments) - 2)
        for node in nodes
        if isinstance(node.arguments[1], Formula)
    ]


def test_a_chain_is_one_formula_and_intermediate_results_are_not_kept() -> None:
    def step(x: Array, y: Array) -> tuple[Array]:
        return ((x * 2.0 + y).tanh().relu() - 1.0,)

    _, (node,) = planned(step, DEVICE.ones((3,)), DEVICE.ones((3,)))
    assert formulas([node]) == [(["__mul__", "__add__", "tanh", "relu", "__sub__"], 1)]
    assert len(node.results) == 1


def test_what_is_computed_in_between_by_others_splits_a_chain() -> None:
    def step(x: Array) -> tuple[Array]:
        y = x.exp() + 1.0
        return (y.cumsum(0) * y + y,)

    _, nodes = planned(step, DEVICE.ones((3,)))
    assert formulas(nodes) == [(["exp", "__add__"], 1), (["__mul__", "__add__"], 1)]


def test_updates_of_several_parameters_are_members_of_one_formula() -> None:
    def step(*parameters: Array) -> tuple[Array, ...]:
        norm = sum((one.square().sum() for one in parameters[1:]), parameters[0].square().sum()).sqrt()
        return tuple(one - (one / norm) * 0.1 for one in parameters)

    shapes: list[tuple[int, ...]] = [(2, 3), (4,), (5, 1, 2)]
    _, nodes = planned(step, *(DEVICE.ones(shape) for shape in shapes))
    found = formulas(nodes)
    assert (["square"], 3) in found
    assert (["__truediv__", "__mul__", "__sub__"], 3) in found
    assert len(nodes) == len(found) == 3


def test_members_depend_on_each_other_in_no_way() -> None:
    def step(x: Array, y: Array) -> tuple[Array, Array]:
        one = x.exp() + 1.0
        other = (y + one.sum((0,), keepdims=True)).exp() + 1.0
        return one, other

    _, nodes = planned(step, DEVICE.ones((3,)), DEVICE.ones((3,)))
    assert all(count == 1 for _, count in formulas(nodes))


def test_numbers_that_compare_equal_are_told_apart() -> None:
    def step(x: Array) -> tuple[Array, Array]:
        return (x * 0.0).exp(), (x * -0.0).exp()

    _, nodes = planned(step, DEVICE.ones((3,)))
    assert sorted(formulas(nodes)) == [(["__mul__", "exp"], 1)] * 2


def test_masks_go_in_and_out() -> None:
    def step(x: Array, y: Array, mask: mx.Mask[Array]) -> tuple[Array, mx.Mask[Array]]:
        return x.where(mask, y * 2.0) + 1.0, (x + y) > 2.0

    compiled = mx.compile(step)
    for seed in range(3):
        x, y = (DEVICE.normal((2, 3), key) for key in mx.Key(seed).split())
        mask = x > y
        results: list[tuple[Any, Any]] = list(zip(compiled(x, y, mask), step(x, y, mask), strict=True))
        for mine, theirs in results:
            assert np.array_equal(mine.to_host(), theirs.to_host())


def test_keys_are_folded_before_the_device_is_asked() -> None:
    def step(x: Array, key: mx.Key) -> tuple[Array, mx.Key]:
        own, following = key.split()
        return x + x.normal(x.shape, own.fold("noise")), following

    compiled = mx.compile(step)
    key: Any = mx.Key(3)
    for _ in range(3):
        found, after = compiled(DEVICE.zeros((2,)), key)
        expected, key = step(DEVICE.zeros((2,)), key)
        assert np.array_equal(found.to_host(), expected.to_host())
        assert after == key
