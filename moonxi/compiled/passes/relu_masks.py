"""Where an input of `relu` is positive, so is its result, and nowhere else: masks are taken from the result.

The backward pass asks where the input was positive. What it asks of the result instead lets nobody need the input any
more, so that it needs no memory beside the result's, and `relu` can be computed together with what comes before it.
"""

from dataclasses import replace

from moonxi.compiled.graph import Graph, Node, Operand


def relu_masks(graph: Graph, /) -> Graph:
    """The graph with ``relu(x) > 0`` for ``x > 0`` wherever ``relu(x)`` was computed before."""
    result_of: dict[int, int] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        first = node.arguments[0]
        if isinstance(first, Operand):
            if node.operation == "relu":
                result_of.setdefault(first.number, node.results[0])
            elif node.operation == "__gt__" and node.arguments[1] == 0.0 and first.number in result_of:
                node = replace(node, arguments=(replace(first, number=result_of[first.number]), 0.0))
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))
