"""Each pass alone, on graphs of a few nodes."""

import numpy as np

import moonxi as mx
from moonxi.compiled import Graph
from moonxi.compiled.interpreter import interpreted
from moonxi.compiled.passes import common_subexpressions, constant_folding, dead_code
from moonxi.compiled.structure import flattened
from moonxi.compiled.tracing import traced

type Host = mx.NpArray[mx.F64]

CPU = mx.numpy(mx.F64)
X = CPU.from_host(np.array([[1.0, -2.0], [0.5, 3.0]]))


def graph_of(step: object, *arguments: object) -> Graph:
    assert callable(step)
    found, structure = flattened((arguments, {}), "the arguments")
    return traced(step, structure, found.leaves, type(X)).graph


def names(graph: Graph) -> list[str]:
    return [node.operation for node in graph.nodes]


def check(before: Graph, after: Graph) -> None:
    """The two graphs compute the same."""
    for mine, theirs in zip(interpreted(before, [X]), interpreted(after, [X]), strict=True):
        assert isinstance(mine, mx.NpArray)
        assert isinstance(theirs, mx.NpArray)
        assert np.array_equal(mine.to_host(), theirs.to_host())


def test_dead_code_leaves_what_the_results_need() -> None:
    def step(x: Host) -> Host:
        x.exp().sum()
        return x.sum(0) * 2.0

    before = graph_of(step, X)
    after = dead_code(before)
    assert names(before) == ["exp", "sum", "sum", "__mul__"]
    assert names(after) == ["sum", "__mul__"]
    check(before, after)


def test_equal_operations_become_one_also_where_their_operands_only_became_equal() -> None:
    def step(x: Host) -> tuple[Host, Host]:
        return x.exp() + x.exp().sum(0), x.exp().sum(0)

    before = graph_of(step, X)
    after = common_subexpressions(before)
    assert names(before) == ["exp", "exp", "sum", "__add__", "exp", "sum"]
    assert names(after) == ["exp", "sum", "__add__"]
    check(before, after)


def test_operations_that_differ_in_a_setting_stay_two() -> None:
    def step(x: Host) -> Host:
        return (x * 0.0 + x * -0.0) + (x.sum(0) + x.sum(1)) + x.sum(0, keepdims=True)

    before = graph_of(step, X)
    assert names(common_subexpressions(before)) == names(before)


def test_draws_from_one_key_are_the_same_and_from_two_are_not() -> None:
    def step(x: Host, key: mx.Key) -> Host:
        one, two = key.split()
        return x.uniform((2,), one) + x.uniform((2,), one) + x.uniform((2,), two)

    assert names(common_subexpressions(graph_of(step, X, mx.Key(0)))).count("uniform") == 2


def test_what_depends_on_no_argument_is_a_constant() -> None:
    def step(x: Host) -> Host:
        return x + x.ones((2,)).exp() * x.full((), 2.0)

    before = graph_of(step, X)
    after = constant_folding(before, {mx.F64: X})
    assert names(before) == ["full", "exp", "full", "__mul__", "__add__"]
    assert names(after) == ["__add__"]
    check(before, dead_code(after))
    assert len(dead_code(after).constants) == 1


def test_without_a_tensor_of_the_element_type_nothing_is_folded() -> None:
    def step(x: Host) -> Host:
        return x + x.full((), 2.0)

    before = graph_of(step, X)
    assert names(constant_folding(before, {})) == names(before)


def test_what_would_raise_raises_at_the_replay() -> None:
    def step(x: Host) -> Host:
        return x + x.ones((2,)).pick(x.labels(np.array(5)))

    assert "pick" in names(constant_folding(graph_of(step, X), {mx.F64: X}))
