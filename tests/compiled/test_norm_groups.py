"""Batch norms and the formulas around them as one node of a device's plan."""

from collections.abc import Callable
from typing import Any

import numpy as np

import moonxi as mx
from moonxi.compiled.graph import Node
from moonxi.norms import NormGradients, Norms
from tests.compiled.device_array import DeviceArray
from tests.compiled.test_clusters import DEVICE, planned
from tests.compiled.test_random_programs import arrays

type Array = DeviceArray[mx.F64]

IMAGES = [DEVICE.normal((3, 4, 2, 2), key) for key in mx.Key(0).split(4)]
VECTORS = [DEVICE.normal((4,), key) for key in mx.Key(1).split(2)]


def groups(step: Callable[..., Any], *arguments: Any) -> list[tuple[str, int, list[str]]]:
    """The nodes that are left, how many norms each has, and its steps; the results are those of the operations."""
    compiled = mx.compile(step)
    for _ in range(3):
        for mine, theirs in zip(arrays(compiled(*arguments)), arrays(step(*arguments)), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    _, nodes = planned(step, *arguments)
    return [(node.operation, *_inside(node)) for node in nodes]


def _inside(node: Node) -> tuple[int, list[str]]:
    what = node.arguments[1] if len(node.arguments) > 1 else None
    if isinstance(what, Norms | NormGradients):
        return len(what.eps), [one.operation for one in what.formula.steps]
    return 0, []


def test_a_norm_goes_with_what_takes_its_result_and_gives_mean_and_variance() -> None:
    def step(x: Array, y: Array, w: Array, b: Array) -> tuple[Array, ...]:
        z, mean, variance = x.batch_norm(w, b)
        return (z + y).relu(), mean * 2.0, variance

    found = groups(step, *IMAGES[:2], *VECTORS)
    assert found == [("normalised", 1, ["__add__", "relu"]), ("__mul__", 0, [])]


def test_two_norms_go_with_the_formula_that_takes_both() -> None:
    def step(x: Array, y: Array, w: Array, b: Array) -> tuple[Array]:
        return ((y.batch_norm(b, w, eps=0.5)[0] + x.batch_norm(w, b)[0]).relu(),)

    assert groups(step, *IMAGES[:2], *VECTORS) == [("normalised", 2, ["__add__", "relu"])]


def test_a_result_of_a_norm_that_others_need_is_kept() -> None:
    def step(x: Array, w: Array, b: Array) -> tuple[Array, ...]:
        y = x.batch_norm(w, b)[0]
        return y.relu() - 1.0, y.sum((0, 1)), y

    assert groups(step, IMAGES[0], *VECTORS) == [("normalised", 1, ["relu", "__sub__"]), ("sum", 0, [])]


def test_a_norm_alone_is_such_a_node_too() -> None:
    def step(x: Array, w: Array, b: Array) -> tuple[Array]:
        return (x.batch_norm(w, b)[0].sum((0, 1)),)

    assert groups(step, IMAGES[0], *VECTORS) == [("normalised", 1, []), ("sum", 0, [])]


def test_what_would_depend_on_itself_is_left_out() -> None:
    def step(x: Array, w: Array, b: Array) -> tuple[Array]:
        y = x.batch_norm(w, b)[0]
        return ((y * y.sum((0, 2, 3), keepdims=True) + 1.0).relu(),)  # as attention over channels does

    found = groups(step, IMAGES[0], *VECTORS)
    assert [one[:2] for one in found] == [("normalised", 1), ("sum", 0), ("fused", 0)]


def test_a_norm_of_the_result_of_a_norm_is_a_node_of_its_own() -> None:
    def step(x: Array, w: Array, b: Array) -> tuple[Array]:
        y = x.batch_norm(w, b)[0]
        return (y.batch_norm(b, w)[0] + y,)

    found = groups(step, IMAGES[0], *VECTORS)
    assert sorted(one[:2] for one in found) == [("normalised", 1), ("normalised", 1)]


def test_numbers_and_vectors_take_part() -> None:
    def step(x: Array, w: Array, b: Array, one: Array) -> tuple[Array]:
        return (x.batch_norm(w, b)[0] * w.reshape((4, 1, 1)) * one,)

    found = groups(step, IMAGES[0], *VECTORS, DEVICE.full((), 0.5))
    assert found[-1] == ("normalised", 1, ["__mul__", "__mul__"])


def test_gradients_go_with_the_formula_before_them_and_what_others_need_of_it_is_kept() -> None:
    def step(x: Array, y: Array, one: Array, other: Array, w: Array, b: Array) -> tuple[Array, ...]:
        _, mean, variance = x.batch_norm(w, b)
        _, mean_y, variance_y = y.batch_norm(w, b)
        dy = (one + other).where(one > 0.0, 0.0)
        return (
            *x.batch_norm_grad(dy, w, mean, variance),
            *y.batch_norm_grad(dy, b, mean_y, variance_y, eps=0.5),
            dy.sum((0, 1)),
        )

    found = groups(step, *IMAGES, *VECTORS)
    assert found[-2:] == [("normalised_gradients", 2, ["__add__", "__gt__", "where"]), ("sum", 0, [])]


def test_gradients_of_a_gradient_that_comes_from_elsewhere() -> None:
    def step(x: Array, y: Array, w: Array, b: Array) -> tuple[Array, ...]:
        _, mean, variance = x.batch_norm(w, b)
        return x.batch_norm_grad(y.cumsum(0), w, mean, variance)

    assert groups(step, *IMAGES[:2], *VECTORS)[-1] == ("normalised_gradients", 1, [])


def test_without_the_pass_they_stay_apart() -> None:
    def step(x: Array, w: Array, b: Array) -> tuple[Array]:
        return (x.batch_norm(w, b)[0].relu(),)

    compiled = mx.compile(step, without=("normalisations",))
    compiled(IMAGES[0], *VECTORS)
    assert mx.compile_report(compiled).traces[0].fusions == ()
    compiled = mx.compile(step)
    compiled(IMAGES[0], *VECTORS)
    assert mx.compile_report(compiled).traces[0].fusions == (2,)
