"""Gradients of max pooling that take the sum of two gradients: see `moonxi.pooled_sums`."""

from dataclasses import replace

from moonxi.compiled.fusion import Uses
from moonxi.compiled.graph import Graph, Node, Operand


def with_pooled_sums(graph: Graph, /) -> Graph:
    """The graph with the sums that nobody else needs in the poolings."""
    uses = Uses(graph)
    sums: set[int] = set()
    nodes: list[Node] = []
    for node in graph.nodes:
        found = _sum(graph, uses, node) if node.operation == "max_pool2d_grad" else None
        if found is not None:
            sums.add(id(found))
            x, _, *others = node.arguments
            node = replace(node, operation="max_pool2d_grad_of_sum", arguments=(x, *found.arguments, *others))
        nodes.append(node)
    return replace(graph, nodes=tuple(node for node in nodes if id(node) not in sums))


def _sum(graph: Graph, uses: Uses, node: Node) -> Node | None:
    """What adds two tensors of one shape for the gradient of a pooling alone."""
    dy = node.arguments[1]
    found = uses.maker(dy.number, "__add__") if isinstance(dy, Operand) else None
    if found is None or uses.needed(found.results[0], [found, node]) is not None:
        return None
    shapes = [graph.specs[number].shape for number in (*found.inputs, *found.results)]
    return found if len(shapes) == 3 and len(set(shapes)) == 1 else None
