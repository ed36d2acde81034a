"""Sums of squares as products of vectors, without the squares: norms of gradients, and their sum for clipping.

Routine ``sum_of_squares``: the sum of the squares of all elements of all its operands, each times the option ``scale``.
"""

from dataclasses import dataclass
from typing import Final

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph, Node

_TOGETHER: Final = 1 << 20
"""Bytes up to which tensors wait for each other; larger ones are summed up while they are still in a cache."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """The sum of the squares of one tensor, scaled."""

    nodes: tuple[Node, ...]
    tensor: int
    scale: float


def sums_of_squares(graph: Graph, uses: Uses, /) -> list[Fusion]:
    """One for each ``x.square().sum()`` and ``(x * 0.5).square().sum()``, or for several that are only added up."""
    alone = {node.results[0]: found for node in graph.nodes if (found := _sum(uses, node)) is not None}
    fusions: list[Fusion] = []
    inside: set[int] = set()
    for node in reversed(graph.nodes):
        if node.operation != "__add__" or id(node) in inside or graph.specs[node.results[0]].shape:
            continue
        nodes, sums = _added(uses, node, alone)
        bytes = sum(graph.specs[one.tensor].bytes for one in sums)
        if len(sums) > 1 and bytes <= _TOGETHER and len({one.scale for one in sums}) == 1:
            inside.update(map(id, nodes))
            operands, options = tuple(one.tensor for one in sums), (("scale", sums[0].scale),)
            fusions.append(Fusion("sum_of_squares", tuple(nodes), operands, node.results, options))
    for number, one in alone.items():
        if id(one.nodes[-1]) not in inside:
            options = (("scale", one.scale),)
            fusions.append(Fusion("sum_of_squares", one.nodes, (one.tensor,), (number,), options, early=True))
    return fusions


def _sum(uses: Uses, node: Node) -> _Sum | None:
    """The sum of squares over all elements that a node is, if it is one."""
    over_all = len(node.arguments) == 1 or node.arguments[1] is None
    if node.operation != "sum" or not over_all or dict(node.options).get("keepdims"):
        return None
    square = uses.maker(node.inputs[0], "square")
    if square is None or uses.needed(node.inputs[0], (node,)) is not None:
        return None
    (tensor,) = square.inputs
    scaled = uses.maker(tensor, "__mul__")
    if scaled is not None and uses.needed(tensor, (square,)) is None:
        number = scaled.arguments[1]
        if isinstance(number, float | int):
            return _Sum((scaled, square, node), scaled.inputs[0], float(number))
    return _Sum((square, node), tensor, 1.0)


def _added(uses: Uses, node: Node, alone: dict[int, _Sum]) -> tuple[list[Node], list[_Sum]]:
    """The nodes below a sum of sums of squares, with it, and these; none if something else is added."""
    nodes, sums, waiting = [node], [], list(node.inputs)
    if len(waiting) != 2:
        return [], []
    while waiting:
        number = waiting.pop()
        maker = uses.maker(number)
        if maker is None or uses.needed(number, nodes) is not None:
            return [], []
        if number in alone:
            nodes.extend(alone[number].nodes)
            sums.append(alone[number])
        elif maker.operation == "__add__" and len(maker.inputs) == 2:
            nodes.append(maker)
            waiting.extend(maker.inputs)
        else:
            return [], []
    return nodes, sums
