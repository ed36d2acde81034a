"""What a device computes in one go, found in a graph by one pass after the other."""

from collections.abc import Collection

from moonxi.compiled.clusters import clustered
from moonxi.compiled.graph import Graph
from moonxi.compiled.members import with_members
from moonxi.compiled.norm_groups import with_norms
from moonxi.compiled.optimising import Pass
from moonxi.formulas import Formula
from moonxi.norms import NormGradients, Norms
from moonxi.waves import Waves


def grouped(graph: Graph, without: Collection[Pass], /) -> Graph:
    """The graph with such groups as nodes, that do all of it in their order."""
    if "fusion" in without:
        return graph
    graph = clustered(graph)
    if "normalisations" not in without:
        graph = with_norms(graph)
    return with_members(graph)


def sizes(graph: Graph, /) -> tuple[int, ...]:
    """For each group, how many operations it is."""
    found: list[int] = []
    for node in graph.nodes:
        what, *members = node.arguments[1:] or (None,)
        if isinstance(what, Formula):
            found += [len(what.steps)] * len(members)
        elif isinstance(what, Norms | NormGradients):
            found.append(len(what.eps) + len(what.formula.steps))
        elif isinstance(what, Waves):
            found += [len(one.scalars) + sum(len(task.steps) for task in one.tasks) for one in what.waves]
    return tuple(found)
