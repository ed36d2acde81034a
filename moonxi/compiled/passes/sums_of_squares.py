"""Sums of squares as products of vectors, without the squares: norms of gradients, and their sum for clipping.

Routine ``sum_of_squares``: the sum of the squares of all elements of all its operands.
"""

from typing import Final

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph, Node

_TOGETHER: Final = 1 << 20
"""Bytes up to which tensors wait for each other; larger ones are summed up while they are still in a cache."""


def sums_of_squares(graph: Graph, uses: Uses, /) -> list[Fusion]:
    """One for each ``x.square().sum()``, or for several that are only added up."""
    alone = {node.results[0]: found for node in graph.nodes if (found := _square(uses, node)) is not None}
    fusions: list[Fusion] = []
    inside: set[int] = set()
    for node in reversed(graph.nodes):
        if node.operation != "__add__" or id(node) in inside or graph.specs[node.results[0]].shape:
            continue
        nodes, operands = _added(uses, node, alone)
        if len(operands) > 1 and sum(graph.specs[number].bytes for number in operands) <= _TOGETHER:
            inside.update(map(id, nodes))
            fusions.append(Fusion("sum_of_squares", tuple(nodes), tuple(operands), node.results))
    for number, (square, total) in alone.items():
        if id(total) not in inside:
            fusions.append(Fusion("sum_of_squares", (square, total), square.inputs, (number,), early=True))
    return fusions


def _square(uses: Uses, node: Node) -> tuple[Node, Node] | None:
    """The two nodes of a sum of squares, over all elements."""
    over_all = len(node.arguments) == 1 or node.arguments[1] is None
    if node.operation != "sum" or not over_all or dict(node.options).get("keepdims"):
        return None
    square = uses.maker(node.inputs[0], "square")
    if square is None or uses.needed(node.inputs[0], (node,)) is not None:
        return None
    return square, node


def _added(uses: Uses, node: Node, alone: dict[int, tuple[Node, Node]]) -> tuple[list[Node], list[int]]:
    """The nodes below a sum of sums of squares, with it, and the tensors; none if something else is added."""
    nodes, operands, waiting = [node], [], list(node.inputs)
    if len(waiting) != 2:
        return [], []
    while waiting:
        number = waiting.pop()
        maker = uses.maker(number)
        if maker is None or uses.needed(number, nodes) is not None:
            return [], []
        if number in alone:
            nodes.extend(alone[number])
            operands.append(alone[number][0].inputs[0])
        elif maker.operation == "__add__" and len(maker.inputs) == 2:
            nodes.append(maker)
            waiting.extend(maker.inputs)
        else:
            return [], []
    return nodes, operands
