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
        x, dy, *others = node.arguments
        found = None
        if node.operation == "max_pool2d_grad" and isinstance(dy, Operand):
            found = _sum(graph, uses, node, dy)
        if found is not None:
            sums.add(id(found))
            node = replace(node, operation="max_pool2d_grad_of_sum", arguments=(x, *found.arguments, *others))
        nodes.append(node)
    return replace(graph, nodes=tuple(node for node in nodes if id(node) not in sums))


def _sum(graph: Graph, uses: Uses, node: Node, dy: Operand) -> Node | None:
    """What adds two tensors of the shape of a gradient for this node alone."""
    found = uses.maker(dy.number, "__add__")
    if found is None or uses.needed(dy.number, [found, node]) is not None:
        return None
    shapes = [graph.specs[number].shape for number in found.inputs]
    return found if shapes == [graph.specs[dy.number].shape] * 2 else None
