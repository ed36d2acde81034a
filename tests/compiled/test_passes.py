"""Each pass alone, on graphs of a few nodes."""

from typing import Any, cast

import numpy as np

import moonxi as mx
from moonxi.compiled import Graph
from moonxi.compiled.fusion import Fusion, Uses, contracted
from moonxi.compiled.interpreter import interpreted
from moonxi.compiled.passes import (
    biases_before_norms,
    common_subexpressions,
    constant_folding,
    convolutions,
    dead_code,
    identities,
    normalisations,
    packing,
    poolings,
    relu_masks,
    softmax_rules,
    sums_of_squares,
)
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


def test_what_gives_back_its_operand_goes_away() -> None:
    def step(x: Host) -> tuple[Host, ...]:
        ones = x.reshape((2, 2, 1, 1)).sum((2, 3)) * 1.0
        same = (ones.reshape((2, 2)).broadcast_to((2, 2)) / 1.0 - 0.0) ** 1.0
        return same.exp(), x.reshape((2, 1, 2)).sum(1, keepdims=True).exp(), x.sum(()).exp()

    before = graph_of(step, X)
    after = identities(before)
    assert [one for one in names(after) if one != "reshape"] == ["exp"] * 3
    check(before, after)


def test_what_changes_a_number_or_is_a_result_stays() -> None:
    def step(x: Host) -> tuple[Host, ...]:
        return (x + 0.0).exp(), (x - -0.0).exp(), (1.0 / x).exp(), x.sum(0).exp(), x * 1.0

    before = graph_of(step, X)
    assert names(identities(before)) == names(before)


def test_masks_come_from_the_result_of_relu_where_there_is_one() -> None:
    def step(x: Host) -> Host:
        return x.relu() + x.where(x > 0.0, 0.0) + x.where(x > 1.0, 0.0)

    before = graph_of(step, X)
    after = relu_masks(before)
    masks = [node.inputs for node in after.nodes if node.operation == "__gt__"]
    (relu,) = [node for node in after.nodes if node.operation == "relu"]
    assert masks == [relu.results, relu.inputs]
    check(before, after)


def test_the_softmax_of_the_backward_pass_divides_the_exponentials_of_the_forward_pass() -> None:
    def step(x: Host) -> tuple[Host, Host]:
        logarithms = x - x.exp().sum(1, keepdims=True).log()
        return logarithms, logarithms.exp()

    before = graph_of(step, X)
    after = softmax_rules(before)
    assert names(after) == ["exp", "sum", "log", "__sub__", "__truediv__"]
    for mine, theirs in zip(interpreted(before, [X]), interpreted(after, [X]), strict=True):
        assert isinstance(mine, mx.NpArray)
        assert isinstance(theirs, mx.NpArray)
        np.testing.assert_allclose(mine.to_host(), theirs.to_host(), rtol=1e-15)
    alone = graph_of(lambda x: (x - x.sum().log()).exp(), X)
    assert names(softmax_rules(alone)) == names(alone)


def test_the_sum_of_what_is_put_at_labels_needs_no_sum() -> None:
    def step(x: Host) -> Host:
        labels = x.labels(np.array([2, 0]))
        chosen = x.sum(1).put(labels, 3)
        return chosen.sum(-1, keepdims=True) + chosen.sum(0)

    before = graph_of(step, X)
    after = softmax_rules(before)
    assert names(before).count("sum") == 3
    assert names(after).count("sum") == 2
    check(before, after)


def fusions_of(step: object, *arguments: object) -> tuple[Graph, list[Fusion]]:
    """What all that look for nodes find."""
    graph = relu_masks(graph_of(step, *arguments))
    uses = Uses(graph)
    chosen = (convolutions, normalisations, poolings, sums_of_squares)
    return graph, [fusion for find in chosen for fusion in find(graph, uses)]


IMAGES = CPU.normal((2, 16, 4, 4), mx.Key(0))
KERNEL = CPU.normal((16, 16, 3, 3), mx.Key(1))
CHANNELS = CPU.ones((16,))


def test_batch_norm_is_found_with_sum_and_relu_and_the_gradients_of_a_convolution_together() -> None:
    def step(x: Host, weight: Host, scale: Host) -> tuple[Host, ...]:
        y, _, variance = x.conv2d(weight, padding=1).batch_norm(scale, scale)
        z = (y + x).relu()
        dx = z.conv2d_input_grad(weight, x.shape, padding=1)
        return z, variance, dx, x.conv2d_weight_grad(z, weight.shape, padding=1)

    _, fusions = fusions_of(step, IMAGES, KERNEL, CHANNELS)
    found = {fusion.routine: [node.operation for node in fusion.nodes] for fusion in fusions}
    assert found == {
        "convolution": ["conv2d"],
        "convolution_gradients": ["conv2d_input_grad", "conv2d_weight_grad"],
        "batch_norm": ["batch_norm", "__add__", "relu"],
    }
    (norm,) = [fusion for fusion in fusions if fusion.routine == "batch_norm"]
    assert [result is None for result in norm.results] == [False, True, False]


def test_a_result_that_others_need_stays() -> None:
    def step(x: Host, scale: Host) -> tuple[Host, Host]:
        y = x.batch_norm(scale, scale)[0]
        return y.relu(), y * 2.0

    _, (norm,) = fusions_of(step, IMAGES, CHANNELS)
    assert [node.operation for node in norm.nodes] == ["batch_norm"]


def test_the_gradient_of_batch_norm_is_found_with_its_mask_and_the_sums_for_a_bias() -> None:
    def step(x: Host, one: Host, other: Host, scale: Host) -> tuple[Host, ...]:
        y, mean, variance = x.batch_norm(scale, scale)
        z = y.relu()
        dy = (one + other).where(y > 0.0, 0.0)
        dx, dw, _ = x.batch_norm_grad(dy, scale, mean, variance)
        return z, dx, dw, dx.sum((0, 2, 3))

    _, fusions = fusions_of(step, IMAGES, IMAGES, IMAGES, CHANNELS)
    gradient = fusions[-1]
    assert [node.operation for node in gradient.nodes] == ["__add__", "__gt__", "where", "batch_norm_grad", "sum"]
    assert [result is None for result in gradient.results] == [False, False, True, True, False]


def values_of(graph: Graph, *inputs: Host) -> list[Any]:
    return [one.to_host() for one in cast(list[Host], interpreted(graph, inputs))]


def test_a_bias_before_a_batch_norm_moves_the_mean_only_and_its_gradient_is_zeros() -> None:
    def step(x: Host, weight: Host, bias: Host, scale: Host) -> tuple[Host, ...]:
        y, mean, variance = x.conv2d(weight, bias, padding=1).batch_norm(scale, scale)
        again = x.conv2d(weight, bias, padding=1)  # another node until equal ones become one
        dx, dw, db = again.batch_norm_grad(y.exp(), scale, mean, variance)
        return y, mean, variance, dx, dw, db, dx.sum((0, 2, 3)), dx.sum((0, -1, 2), keepdims=True), dx.sum()

    inputs = IMAGES, KERNEL, CPU.normal((16,), mx.Key(2)), CHANNELS
    before = common_subexpressions(graph_of(step, *inputs))
    after = biases_before_norms(before)
    assert [len(node.inputs) for node in after.nodes if node.operation == "conv2d"] == [2]
    assert names(after).count("sum") == 0
    for mine, theirs in zip(values_of(after, *inputs), values_of(before, *inputs), strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11)


def test_a_bias_stays_where_something_else_sees_it() -> None:
    def step(x: Host, weight: Host, bias: Host, scale: Host) -> tuple[Host, ...]:
        t = x.conv2d(weight, bias)
        return (*t.batch_norm(scale, scale), t.exp())

    def given_out(x: Host, weight: Host, bias: Host, scale: Host) -> tuple[Host, ...]:
        t = x.conv2d(weight, bias)
        return (*t.batch_norm(scale, scale), t)

    def as_weight(x: Host, weight: Host, bias: Host, scale: Host) -> tuple[Host, ...]:
        t = x.conv2d(weight, bias)
        y, mean, variance = t.batch_norm(scale, scale)
        return (y, *y.batch_norm_grad(t, scale, mean, variance))

    def of_another_mean(x: Host, weight: Host, bias: Host, scale: Host) -> tuple[Host, ...]:
        t = x.conv2d(weight, bias)
        _, _, variance = t.batch_norm(scale, scale)
        dx, dw, db = t.batch_norm_grad(t.exp(), scale, scale, variance)
        return dx, dw, db, dx.sum((0, 2, 3))

    inputs = IMAGES, KERNEL, CPU.normal((16,), mx.Key(2)), CHANNELS
    for one in (step, given_out, as_weight, of_another_mean):
        before = common_subexpressions(graph_of(one, *inputs))
        assert str(biases_before_norms(before)) == str(before)


def test_sums_over_other_axes_of_a_gradient_stay() -> None:
    def step(x: Host, dy: Host, scale: Host) -> tuple[Host, ...]:
        _, mean, variance = x.batch_norm(scale, scale)
        dx, dw, _ = x.batch_norm_grad(dy, scale, mean, variance)
        return dx.sum((0, 2)), dx.sum(1), dw.sum(0)

    before = graph_of(step, IMAGES, IMAGES, CHANNELS)
    assert names(biases_before_norms(before)) == names(before)


def test_sums_of_squares_are_found_with_their_factor_and_added_up() -> None:
    def step(x: Host) -> Host:
        return (x * 0.5).square().sum() + (x.exp() * 0.5).square().sum()

    _, (fusion,) = fusions_of(step, X)
    assert fusion.options == (("scale", 0.5),)
    assert len(fusion.operands) == 2
    assert len(fusion.nodes) == 7


def test_what_a_fusion_needs_and_gives_is_put_in_order_or_it_is_left_out() -> None:
    def step(x: Host) -> Host:
        one = x.exp()
        return one.sum() * one.tanh() + one.sqrt()

    graph = graph_of(step, X)
    exp, total, tanh, product, root, added = graph.nodes  # in the order of the program
    apart = Fusion("any", (exp, root), exp.inputs, (*exp.results, *root.results))
    assert contracted(graph, [apart]) == [apart, total, tanh, product, added]
    around = Fusion("any", (exp, product), (), ())  # would have to run before and after the sum
    assert contracted(graph, [around]) == [*graph.nodes]
    assert contracted(graph, [apart, around]) == [apart, total, tanh, product, added]


def test_only_what_nobody_else_needs_is_packed() -> None:
    def step(x: Host, y: Host) -> tuple[Host, Host, Host]:
        first, second = x * 0.5 + x, y * 0.5 + y
        return first, second, (x * 2.0).exp().sum(0)

    graph = graph_of(step, X, X[:1])
    (fusion,) = packing(graph, Uses(graph), lambda node: node.operation in ("__mul__", "__add__", "exp"))
    assert fusion.pack is not None
    assert fusion.pack.results == ((graph.outputs[0], graph.outputs[1]),)
    assert [node.operation for node in fusion.nodes] == ["__mul__", "__add__"] * 2
