"""The schedule: an order that works, the long chain on one branch, and what hangs from it on others."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import moonxi as mx
from moonxi.compiled import Pass, branches, device_plan
from moonxi.compiled.branches import Schedule, microseconds, scheduled
from moonxi.compiled.device_groups import grouped
from moonxi.compiled.graph import Graph, Node
from moonxi.dtypes import BF16
from moonxi.formulas import Formula
from moonxi.losses import cross_entropy
from moonxi.nn.models import ResNet18
from tests.compiled.device_array import device
from tests.compiled.test_random_programs import COLUMNS, ROWS, Program, programs, step

type Host = mx.NpArray[mx.F32]


def check_order(graph: Graph, found: Schedule) -> None:
    """The same nodes, each after what it needs."""
    assert Counter(node.results for node in found.graph.nodes) == Counter(node.results for node in graph.nodes)
    known = {*graph.inputs, *graph.constants}
    for node in found.graph.nodes:
        assert known.issuperset(node.inputs)
        known.update(node.results)
    assert found.branches.keys() == {node.results[0] for node in graph.nodes}


@pytest.fixture(name="resnet", scope="module")
def _resnet() -> Graph:
    """A training step of ResNet-18; the sizes are those that take long on a device."""
    cpu = mx.numpy()
    model = ResNet18.init(like=cpu, key=mx.Key(0))
    optimizer = mx.Sgd(lr=0.1, clip_norm=1.0)

    def loss[T: mx.ImageModelTensor](model: ResNet18[T], batch: mx.Labelled[T], mode: mx.Mode) -> T:
        return cross_entropy(model.forward(batch.x, mode), batch.labels)

    @mx.compile
    def train(
        model: ResNet18[Host], state: mx.OptimizerState[Host, ResNet18[Host]], batch: mx.Labelled[Host]
    ) -> tuple[ResNet18[Host], mx.OptimizerState[Host, ResNet18[Host]], Host]:
        value, gradients = mx.value_and_grad(loss, model, batch, mx.Train(mx.Key(0)))
        return (*optimizer.update(model, gradients, state), value)

    batch = mx.Labelled(cpu.normal((16, 3, 32, 32), mx.Key(1)), cpu.labels(np.arange(16) % 10))
    train(model, optimizer.init(model), batch)
    return mx.compile_report(train).traces[0].graph


def test_weight_gradients_leave_the_chain(resnet: Graph) -> None:
    whole = grouped(resnet, ())
    found = scheduled(whole)
    assert found.count == branches.BRANCHES
    of: dict[str, Counter[int]] = {}
    for node in whole.nodes:
        if node.results[0] in found.branches:  # the norm of all gradients is taken apart
            of.setdefault(node.operation, Counter())[found.branches[node.results[0]]] += 1
    assert of["conv2d_weight_grad"].total() == 20
    assert of["conv2d_weight_grad"][0] <= 4
    for operation, count in (("normalised", 17), ("normalised_gradients", 17), ("max_pool2d_grad", 1)):
        assert of[operation].total() == count
        assert of[operation][0] >= count - 3
    assert of["conv2d_input_grad"][0] >= 19 - 3  # but for those of shortcuts
    check_order(resnet, scheduled(resnet))


def test_the_norm_of_early_gradients_is_computed_before_the_last_gradient(resnet: Graph) -> None:
    whole = grouped(resnet, ())
    found = scheduled(whole)
    (squares,) = (node for node in whole.nodes if sums(node) and len(node.results) == 62)  # of all parameters
    parts = [(place, node) for place, node in enumerate(found.graph.nodes) if sums(node) == sums(squares)]
    assert len(parts) == 3
    assert sorted(number for _, part in parts for number in part.results) == sorted(squares.results)
    assert {member for _, part in parts for member in part.arguments[2:]} == {*squares.arguments[2:]}
    (one, early), (other, _), _ = parts
    assert found.branches[early.results[0]] > 0
    assert "conv2d_weight_grad" in [node.operation for node in found.graph.nodes[one:other]]
    for _, part in parts:
        assert part.inputs[0] == part.inputs[1]
        assert len(part.results) == len(part.arguments) - 2
    assert len(scheduled(whole, 1).graph.nodes) == len(whole.nodes)


def sums(node: Node) -> Formula | None:
    """The formula of a node that gives sums over all elements."""
    formula = node.arguments[1] if node.operation == "fused" else None
    return formula if isinstance(formula, Formula) and formula.sums else None


def test_the_shorter_way_around_a_block_is_a_branch(resnet: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "WORTH", 0.0)
    found = scheduled(resnet)
    shortcuts = [
        node for node in resnet.nodes if node.operation == "conv2d" and resnet.specs[node.inputs[1]].shape[2:] == (1, 1)
    ]
    assert len(shortcuts) == 3
    assert all(found.branches[node.results[0]] > 0 for node in shortcuts)


def test_one_branch_is_the_whole_graph_and_nothing_is_faster_than_its_longest_chain(resnet: Graph) -> None:
    one = scheduled(resnet, 1)
    check_order(resnet, one)
    assert one.count == 1
    assert set(one.branches.values()) == {0}


def test_half_precision_and_small_arrays_take_less_time(resnet: Graph) -> None:
    node = next(node for node in resnet.nodes if node.operation == "conv2d_weight_grad")
    half = Graph((), (), (), {number: replace(spec, dtype=BF16) for number, spec in resnet.specs.items()}, {})
    assert microseconds(half, node) < microseconds(resnet, node)
    view = next(node for node in resnet.nodes if node.operation == "permute")
    assert microseconds(resnet, view) == 0.0


def test_a_plan_without_branches_keeps_the_order(resnet: Graph) -> None:
    like = device(mx.F32)
    without: tuple[Pass, ...] = ("branches", "fusion")
    plain = device_plan.DevicePlan(resnet, like, [None] * len(resnet.outputs), without)
    assert plain.work.nodes == resnet.nodes
    several = device_plan.DevicePlan(resnet, like, [None] * len(resnet.outputs), without[1:])
    assert several.work.nodes != resnet.nodes
    assert Counter(several.work.nodes) == Counter(resnet.nodes)


@given(programs)
@settings(max_examples=25, deadline=None)
def test_random_programs_are_put_in_an_order_that_works(program: Program) -> None:
    cpu = mx.numpy(mx.F64)
    compiled = mx.compile(step)
    compiled(program, cpu.ones((ROWS, COLUMNS)), cpu.ones((ROWS, COLUMNS)), cpu.labels(np.arange(ROWS)))
    graph = mx.compile_report(compiled).traces[0].graph
    for count in (1, 2, 5):
        found = scheduled(graph, count)
        check_order(graph, found)
        assert set(found.branches.values()) <= set(range(count))
