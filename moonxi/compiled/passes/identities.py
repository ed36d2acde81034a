"""Operations that give back what they are given: nobody needs to compute them.

A number times or over one, less zero; sums over axes of size 1, which only take them away; another shape that is the
same. A model for larger images has these where its own come down to one pixel.
"""

from dataclasses import replace
from typing import Final

from moonxi.compiled.graph import Graph, Node

_NEUTRAL: Final = {"__mul__": 1.0, "__truediv__": 1.0, "__sub__": 0.0, "__pow__": 1.0}
_SHAPED: Final = frozenset({"reshape", "broadcast_to"})


def identities(graph: Graph, /) -> Graph:
    """The graph without them. A result of the step is computed by a node all the same, for it has to be another one."""
    names: dict[int, int] = {}
    kept: list[Node] = []
    for old in graph.nodes:
        node = old.renamed(names)
        if node.operation == "sum" and _over_ones(graph, node):
            shape = graph.specs[node.results[0]].shape
            node = replace(node, operation="reshape", arguments=(node.arguments[0], shape), options=())
        if _is_identity(graph, node) and node.results[0] not in graph.outputs:
            names[node.results[0]] = node.inputs[0]
        else:
            kept.append(node)
    return replace(graph, nodes=tuple(kept))


def _over_ones(graph: Graph, node: Node) -> bool:
    """Whether a sum goes over axes of size 1 only."""
    shape = graph.specs[node.inputs[0]].shape
    given = node.arguments[1] if len(node.arguments) > 1 else None
    axes = range(len(shape)) if given is None else given if isinstance(given, tuple) else (given,)
    return all(isinstance(axis, int) and shape[axis] == 1 for axis in axes)


def _is_identity(graph: Graph, node: Node) -> bool:
    if node.operation in _SHAPED:
        return graph.specs[node.inputs[0]] == graph.specs[node.results[0]]
    number = _NEUTRAL.get(node.operation)
    if number is None or len(node.inputs) != 1 or len(node.arguments) != 2:
        return False
    other = node.arguments[1]
    return isinstance(other, int | float) and other == number and str(float(other)) == str(number)
