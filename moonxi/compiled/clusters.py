"""Element-wise operations over one shape brought together, each group as one node ``fused`` with a formula."""

from collections.abc import Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from math import prod
from typing import Final

from moonxi.compiled.graph import Graph, Node, Operand, Spec
from moonxi.dtypes import Bool, Floating
from moonxi.formulas import ELEMENTWISE, SWAPPED, Formula, Kind, Step, Term

MOST: Final = 100
"""Values that a group takes from outside and gives, at most: a kernel has room for so many addresses."""


def clustered(graph: Graph, /) -> Graph:
    """The graph with such groups as nodes. What is computed stays; sums over all elements may round differently."""
    groups = _Groups(graph)
    for node in graph.nodes:
        groups.add(node)
    return groups.finished()


class _Group:
    """Nodes that become one."""

    __slots__ = ("nodes", "outside", "own")

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.own = {number for node in nodes for number in node.results}
        self.outside = {number for node in nodes for number in node.inputs} - self.own


class _Groups:
    """All nodes of a graph in groups, most of one node."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._users = _users(graph)
        self._of_value: dict[int, _Group] = {}
        self._place = {id(node): place for place, node in enumerate(graph.nodes)}
        self._all: dict[int, _Group] = {}
        self._shapes: dict[int, tuple[int, ...]] = {}
        """The shape over which the node of a value runs, where another one can go on from it."""

    def add(self, node: Node) -> None:
        """Put the next node into a group of its own, and join that with those of its operands where it can be."""
        group = self._kept(_Group([node]))
        shape = runs_over(self._graph, node)
        if shape is None:
            return
        for number in dict.fromkeys(node.inputs):
            other = self._of_value.get(number)
            if other is not None and other is not group and self._shapes.get(number) == shape:
                group = self._joined(other, group) or group
        if node.operation != "sum":
            self._shapes[node.results[0]] = shape

    def _kept(self, group: _Group) -> _Group:
        self._all[id(group)] = group
        self._of_value.update(dict.fromkeys(group.own, group))
        return group

    def _joined(self, one: _Group, other: _Group) -> _Group | None:
        """Both as one group; None if it would be too large, or depend on itself through others."""
        joined = _Group(one.nodes + other.nodes)
        if len(joined.outside) + len(self._results(joined)) > MOST or self._depends(joined, one, other):
            return None
        del self._all[id(one)], self._all[id(other)]
        return self._kept(joined)

    def _depends(self, joined: _Group, *parts: _Group) -> bool:
        """Whether what a group takes from outside depends on one of its parts."""
        seen = {id(part) for part in parts}
        waiting = [group for number in joined.outside if (group := self._of_value.get(number)) is not None]
        while waiting:
            group = waiting.pop()
            if group in parts:
                return True
            if id(group) not in seen:
                seen.add(id(group))
                waiting += [found for number in group.outside if (found := self._of_value.get(number)) is not None]
        return False

    def _results(self, group: _Group) -> set[int]:
        """The values that are needed outside of the group."""
        inside = set(map(id, group.nodes))
        needed = {number for number in group.own if self._users.get(number, set()) - inside}
        return needed | group.own.intersection(self._graph.outputs)

    def finished(self) -> Graph:
        """The graph, each group in the place of its nodes."""
        needed = [group for group in self._all.values() if len(group.nodes) == 1 or self._results(group)]
        made = [self._made(group) for group in needed]
        return replace(self._graph, nodes=tuple(sorted_nodes(made)))

    def _made(self, group: _Group) -> Node:
        nodes = sorted(group.nodes, key=lambda node: self._place[id(node)])
        return nodes[0] if len(nodes) == 1 else fused(self._graph, nodes, self._results(group))


def _users(graph: Graph) -> dict[int, set[int]]:
    """For each value the nodes that take it."""
    users: dict[int, set[int]] = {}
    for node in graph.nodes:
        for number in node.inputs:
            users.setdefault(number, set()).add(id(node))
    return users


def runs_over(graph: Graph, node: Node) -> tuple[int, ...] | None:
    """The shape over whose elements a node computes, if it can be a step of a formula, or a sum of one."""
    first = node.arguments[0]
    if not isinstance(first, Operand) or not _is_floating(graph.specs[first.number]):
        return None
    taken = graph.specs[first.number].shape
    if node.operation == "sum":
        axes = node.arguments[1] if len(node.arguments) > 1 else None
        options = dict(node.options)
        return taken if axes is None and not options.get("keepdims") and len(taken) > 0 else None
    if node.operation not in ELEMENTWISE and node.operation not in SWAPPED:
        return None
    shape = graph.specs[node.results[0]].shape
    kinds = [_kind(graph.specs[number].shape, shape) for number in node.inputs]
    dtype = graph.specs[first.number].dtype
    alike = all(graph.specs[number].dtype in (dtype, Bool) for number in node.inputs)
    return shape if alike and Kind.EACH in kinds and None not in kinds else None


def _is_floating(spec: Spec) -> bool:
    return spec.dtype is not None and issubclass(spec.dtype, Floating)


def _kind(own: tuple[int, ...], shape: tuple[int, ...]) -> Kind | None:
    if own == shape:
        return Kind.EACH
    if prod(own) == 1:
        return Kind.ONE
    return Kind.AXIS if len(own) - own.count(1) == 1 else None


def fused(graph: Graph, nodes: Sequence[Node], kept: set[int]) -> Node:
    """The node of a group; ``kept`` are the values that are needed outside of it."""
    shape = next(shape for node in nodes if (shape := runs_over(graph, node)) is not None)
    own = {number for node in nodes for number in node.results}
    operands = list(dict.fromkeys(number for node in nodes for number in node.inputs if number not in own))
    values = {number: place for place, number in enumerate(operands)}
    steps: list[Step] = []
    sums: list[tuple[int, int]] = []
    for node in nodes:
        terms = [_term(one, values) for one in node.arguments]
        if node.operation == "sum":
            sums.append((node.results[0], values[node.inputs[0]]))
            continue
        if node.operation in SWAPPED:
            terms.reverse()
        values[node.results[0]] = len(operands) + len(steps)
        steps.append(Step(SWAPPED.get(node.operation, node.operation), tuple(terms)))
    results = [number for node in nodes for number in node.results if number in kept and node.operation != "sum"]
    kinds = tuple(_kind(graph.specs[number].shape, shape) or Kind.EACH for number in operands)
    masks = tuple(graph.specs[number].dtype is Bool for number in operands)
    formula = Formula(
        kinds, masks, tuple(steps), tuple(values[number] for number in results), tuple(place for _, place in sums)
    )
    first = next(number for number, is_mask in zip(operands, masks, strict=True) if not is_mask)
    member = tuple(map(Operand, operands))
    made = (*results, *(number for number, _ in sums))
    return Node(
        "fused", (Operand(first), formula, member), (), made, (None,) * len(made), True, nodes[-1].line,
        nodes[-1].backward,
    )  # fmt: skip


def _term(argument: object, values: dict[int, int]) -> Term:
    if isinstance(argument, Operand):
        return values[argument.number]
    return float(argument).hex() if isinstance(argument, int | float) else ""


def sorted_nodes(nodes: Sequence[Node]) -> list[Node]:
    """The nodes in an order that works, near to that of their results; fewer if some depend on themselves."""
    maker = {number: place for place, node in enumerate(nodes) for number in node.results}
    needs = [{maker[number] for number in node.inputs if number in maker} for node in nodes]
    users: list[list[int]] = [[] for _ in nodes]
    for place, needed in enumerate(needs):
        for one in needed:
            users[one].append(place)
    rank = [max(node.results) for node in nodes]
    missing = [len(needed) for needed in needs]
    ready = [(rank[place], place) for place, count in enumerate(missing) if not count]
    heapify(ready)
    found: list[Node] = []
    while ready:
        _, place = heappop(ready)
        found.append(nodes[place])
        for user in users[place]:
            missing[user] -= 1
            if not missing[user]:
                heappush(ready, (rank[user], user))
    return found
