"""What is computed twice from the same values is computed once. All operations are functions, random ones of a key."""

from dataclasses import replace

from moonxi.compiled.graph import Graph, Node


def common_subexpressions(graph: Graph, /) -> Graph:
    """The first of each group of equal nodes, which stands for all."""
    first: dict[object, Node] = {}
    names: dict[int, int] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        renamed = node.renamed(names)
        same = first.setdefault(renamed.identity, renamed)
        if same is renamed:
            kept.append(renamed)
        else:
            names.update(zip(node.results, same.results, strict=True))
    outputs = tuple(names.get(number, number) for number in graph.outputs)
    return replace(graph, nodes=tuple(kept), outputs=outputs)
