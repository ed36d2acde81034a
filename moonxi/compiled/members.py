"""Groups that have the same formula and do not depend on each other as one node with several members.

The updates of all parameters by an optimizer are such groups.
"""

from collections.abc import Iterable
from dataclasses import replace

from moonxi.compiled.clusters import sorted_nodes
from moonxi.compiled.graph import Graph, Node
from moonxi.formulas import Formula, Kind


def with_members(graph: Graph, /) -> Graph:
    """The graph with nodes of the same formula that do not depend on each other brought together."""
    nodes = list(graph.nodes)
    formulas = dict.fromkeys(
        (node.arguments[1], graph.specs[node.inputs[0]].dtype) for node in nodes if _can_have_members(node)
    )
    for formula in formulas:
        alike = [
            node
            for node in nodes
            if node.operation == "fused" and (node.arguments[1], graph.specs[node.inputs[0]].dtype) == formula
        ]
        if len(alike) < 2:
            continue
        before, place = _ancestors(nodes), {id(node): n for n, node in enumerate(nodes)}
        batches: list[list[Node]] = []
        for node in alike:
            bit = 1 << place[id(node)]
            batch = next(
                (
                    batch
                    for batch in batches
                    if not any(before[id(node)] >> place[id(one)] & 1 or before[id(one)] & bit for one in batch)
                ),
                None,
            )
            if batch is None:
                batches.append([node])
            else:
                batch.append(node)
        for batch in batches:
            nodes = _with_batch(nodes, batch)
    return replace(graph, nodes=tuple(nodes))


def _can_have_members(node: Node) -> bool:
    return (
        node.operation == "fused"
        and isinstance(node.arguments[1], Formula)
        and Kind.AXIS not in node.arguments[1].kinds
    )


def _with_batch(nodes: list[Node], batch: list[Node]) -> list[Node]:
    """The nodes with some of them as one, unless that would depend on itself."""
    if len(batch) < 2:
        return nodes
    first = batch[0]
    members = tuple(node.arguments[2] for node in batch)
    results = tuple(number for node in batch for number in node.results)
    merged = replace(first, arguments=(*first.arguments[:2], *members), results=results, holders=(None,) * len(results))
    gone = set(map(id, batch))
    kept = [node for node in nodes if id(node) not in gone]
    found = sorted_nodes([*kept, merged])
    return found if len(found) == len(kept) + 1 else nodes


def _ancestors(nodes: Iterable[Node]) -> dict[int, int]:
    """For each node the places of those that it depends on, as bits."""
    of_value: dict[int, int] = {}
    found: dict[int, int] = {}
    for place, node in enumerate(nodes):
        before = 0
        for number in node.inputs:
            before |= of_value.get(number, 0)
        found[id(node)] = before
        of_value.update(dict.fromkeys(node.results, before | 1 << place))
    return found
