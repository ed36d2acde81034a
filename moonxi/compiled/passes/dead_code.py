"""Nodes whose results nobody needs go away. Operations have no effects, so that nothing else is lost."""

from dataclasses import replace

from moonxi.compiled.graph import Graph, Node


def dead_code(graph: Graph, /) -> Graph:
    """The nodes that the outputs depend on, and the constants."""
    needed = set(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(node.results):
            needed.update(node.inputs)
            kept.append(node)
    constants = {number: value for number, value in graph.constants.items() if number in needed}
    return replace(graph, nodes=tuple(reversed(kept)), constants=constants)
