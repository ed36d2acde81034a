"""Runs of operations on small tensors, each as one node ``waves``: what a device computes in a few kernels.

The products of a small network, its loss and their gradients wait for each other far longer than they compute.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Final

from moonxi.compiled.graph import Graph, Node, Operand, Spec
from moonxi.compiled.wave_tasks import Planner, kept_axes
from moonxi.dtypes import I64, Bool, DType, Floating
from moonxi.formulas import ELEMENTWISE, SWAPPED
from moonxi.waves import addresses

ELEMENTS: Final = 1 << 20
"""Of a tensor that is small."""
PRODUCTS: Final = 1 << 24
"""Multiplications of a product of matrices that is small: above, a library is faster."""
VALUES: Final = 400
"""Operations of a run, which is compiled as a whole."""
ADDRESSES: Final = 480
"""Arrays of a wave at most: a kernel has room for so many addresses."""
_VIEWS: Final = frozenset({"permute", "reshape"})
_ANCHORS: Final = frozenset({"matmul", "log_softmax", "softmax", "pick"})
"""What a run is worth a kernel of its own for; element-wise operations alone are `moonxi.compiled.clusters`'s."""


def small_runs(graph: Graph, /) -> Graph:
    """The graph with a node for each run. Sums and products are computed in another order than before."""
    nodes: list[Node] = []
    run: list[Node] = []
    dtype: type[DType] | None = None
    for node in graph.nodes:
        own = _dtype_if_small(graph, node)
        if run and (own is not dtype or len(run) == VALUES):
            nodes += _closed(graph, run, begins=len(nodes) == 0, ends=False)
            run = []
        if own is None:
            nodes.append(node)
        else:
            run.append(node)
            dtype = own
    nodes += _closed(graph, run, begins=not nodes, ends=True)
    return replace(graph, nodes=tuple(nodes))


def _closed(graph: Graph, run: list[Node], *, begins: bool, ends: bool) -> list[Node]:
    """A run, as one node from its first to its last product or the like, or as far as the graph goes on both sides."""
    places = [place for place, node in enumerate(run) if node.operation in _ANCHORS]
    if not places or len(run) == 1:
        return run
    first, last = 0 if begins else places[0], len(run) if ends else places[-1] + 1
    return [*run[:first], *_as_waves(graph, run[first:last]), *run[last:]]


def _dtype_if_small(graph: Graph, node: Node) -> type[DType] | None:
    """The type of the numbers of an operation that can be part of a run; None if it cannot."""
    specs = [graph.specs[number] for number in (*node.inputs, *node.results)]
    dtypes = {spec.dtype for spec in specs} - {Bool, I64}
    dtype = next(iter(dtypes)) if len(dtypes) == 1 else None
    if dtype is None or not issubclass(dtype, Floating) or graph.specs[node.results[0]].dtype is I64:
        return None
    if not all(0 < prod(spec.shape) <= ELEMENTS for spec in specs) or any(len(spec.shape) > 2 for spec in specs[1:]):
        return None
    return dtype if _is_known(node, specs[0], specs[1:]) else None


def _is_known(node: Node, first: Spec, others: Sequence[Spec]) -> bool:
    operation, shape = node.operation, first.shape
    if operation == "reshape":  # with other axes of size 1: a view, however it lies
        return [size for size in shape if size != 1] == [size for size in others[-1].shape if size != 1]
    if len(shape) > 2 or first.dtype is I64:
        return False
    if operation == "sum" and prod(others[-1].shape) == 1:
        return True
    if operation in ("sum", "max"):  # of rows, and sums of columns too
        kept = kept_axes(node, len(shape))
        return len(shape) == 2 and (kept == (0,) or (operation == "sum" and kept == (1,)))
    if operation == "matmul":
        right = others[0].shape
        return len(shape) == len(right) == 2 and prod(shape) * right[1] <= PRODUCTS
    if operation in ("log_softmax", "softmax"):
        return len(shape) == 2 and node.arguments[1] in (-1, 1)
    if operation in ("pick", "put"):
        return len(shape) == (2 if operation == "pick" else 1)
    return operation in ELEMENTWISE or operation in SWAPPED or (operation == "permute" and first.dtype is not Bool)


def _as_waves(graph: Graph, run: Sequence[Node]) -> list[Node]:
    """The node of a run, and after it the views in it that are needed elsewhere."""
    own = {number for node in run for number in node.results}
    inside = set(map(id, run))
    needed = own.intersection(graph.outputs)
    needed.update(number for node in graph.nodes if id(node) not in inside for number in node.inputs if number in own)
    views = []
    for node in reversed(run):
        if node.operation in _VIEWS and node.results[0] in needed:
            views.append(node)
            needed.remove(node.results[0])
            needed.update(own.intersection(node.inputs))
    first = next(number for number in own if graph.specs[number].dtype not in (Bool, I64))
    dtype = graph.specs[first].dtype
    assert dtype is not None, "keys are no tensors"
    planner = Planner(graph.specs, dtype)
    for node in run:
        planner.add(node)
    operands = list(dict.fromkeys(number for node in run for number in node.inputs if number not in own))
    results = tuple(number for node in run for number in node.results if number in needed)
    waves = planner.finished(operands, results)
    if not waves.waves:
        return list(run)
    if max(len(addresses(waves, place)) for place in range(len(waves.waves))) > ADDRESSES:
        return [*_as_waves(graph, run[: len(run) // 2]), *_as_waves(graph, run[len(run) // 2 :])]
    of = next((number for number in operands if graph.specs[number].dtype not in (Bool, I64)), None)
    if of is None:
        return list(run)
    made = Node(
        "waves", (Operand(of), waves, *map(Operand, operands)), (), results, (None,) * len(results), True,
        run[-1].line, run[-1].backward,
    )  # fmt: skip
    return [made, *reversed(views)]
