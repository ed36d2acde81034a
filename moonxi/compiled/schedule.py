"""The order in which nodes are replayed, and which of them are computed together, block by block.

A chain of operations on arrays that fit into no cache, each over the whole array, reads and writes main memory for each
of them; over one block of rows after the other its intermediate results stay in a cache. On smaller arrays, whose
memory is used again and again, that gains nothing: Adam's update of 4 million numbers became 12 % shorter, that of one
million stayed as it was, and that of 130,000 became 14 % longer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from moonxi.compiled.fusion import Fusion, contracted
from moonxi.compiled.graph import Graph, Node

WORTH: Final = 1 << 21
"""Elements from which on a chain is cut into blocks."""
BLOCK: Final = 1 << 16
"""Elements of a block: what a chain works on at a time fits into a cache, and is large against the cost of a call."""


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that are replayed together: one, a chain of element-wise ones over the same shape, or those of a fusion."""

    nodes: tuple[Node, ...]
    fusion: Fusion | None = None

    @property
    def inputs(self) -> list[int]:
        """The values that come from outside, each once."""
        own = set(self.results)
        return list(dict.fromkeys(number for node in self.nodes for number in node.inputs if number not in own))

    @property
    def results(self) -> list[int]:
        """The values that are computed."""
        return [number for node in self.nodes for number in node.results]


def grouped(
    graph: Graph, elementwise: Callable[[Node], bool], fuse: bool, fusions: Sequence[Fusion] = ()
) -> list[Group]:
    """All nodes, in an order that works; ``elementwise`` tells those that can be computed block by block."""

    def large(group: Group) -> bool:
        node, *others = group.nodes
        shape = graph.specs[node.results[0]].shape
        return (
            (fuse and group.fusion is None and not others)
            and len(shape) > 0
            and shape[0] > 1
            and prod(shape) >= WORTH
            and elementwise(node)
        )

    units = [
        Group(unit.nodes, unit) if isinstance(unit, Fusion) else Group((unit,)) for unit in contracted(graph, fusions)
    ]
    chained = {id(unit) for unit in units if large(unit)}
    groups: list[list[Group]] = []
    for unit in _late(graph, units, chained):
        before = groups[-1][-1] if groups else None
        if before is not None and {id(unit), id(before)} <= chained and _shape(graph, before) == _shape(graph, unit):
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return [Group(tuple(node for unit in units for node in unit.nodes), units[0].fusion) for units in groups]


def _shape(graph: Graph, group: Group) -> tuple[int, ...]:
    return graph.specs[group.results[0]].shape


def _late(graph: Graph, units: Sequence[Group], chained: set[int]) -> list[Group]:
    """The groups, each that is chained right before the first that needs it, if that is another one of its shape."""
    order = list(units)
    for group in reversed(units):
        if id(group) not in chained:
            continue
        place = next(n for n, one in enumerate(order) if one is group)
        results = set(group.results)
        user = next((n for n in range(place + 1, len(order)) if not results.isdisjoint(order[n].inputs)), None)
        if user is None or id(order[user]) not in chained:
            continue
        if _shape(graph, order[user]) == _shape(graph, group):
            order.insert(user - 1, order.pop(place))
    return order
