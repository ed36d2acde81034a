"""Which nodes of a graph may run side by side on a device, and in which order all of them are written down.

The device has several queues, here called branches; each does its nodes one after the other. What the rest of the step
does not wait for soon, such as the gradient of a weight, leaves the first one, which gets on with the longest chain of
nodes that need each other. The times are estimates: only which of two nodes takes longer matters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import prod
from typing import Final

from moonxi.compiled.graph import Graph, Node, Operand, operands
from moonxi.dtypes import BF16, F16
from moonxi.formulas import Formula

BRANCHES: Final = 3
"""As many as there are: a chain, what hangs from it, and the shorter way around a residual block."""
WORTH: Final = 2.5
"""Microseconds from which on a node is sent to another branch: waiting for each other costs about one."""
SLACK: Final = 20.0
"""Microseconds for which nobody is going to wait for a node, from which on a shorter one is sent there too."""
_LAUNCH: Final = 2.0
_BYTES: Final = 2.5e6
"""A microsecond, of an H200's 4.8 million as a kernel on small arrays gets to them."""
_PRODUCTS: Final = 2.5e7
"""Multiplications a microsecond, in TF32, as measured on convolutions of ResNet-18; twice as many in half precision."""
_VIEWS: Final = frozenset(("reshape", "permute", "broadcast_to", "__getitem__", "squeeze", "unsqueeze"))


@dataclass(frozen=True, slots=True)
class Schedule:
    """All nodes of a graph in another order that works, and the branch of each."""

    graph: Graph
    branches: Mapping[int, int]
    """For the first result of a node the number of its branch; 0 is the one that the step starts and ends on."""

    @property
    def count(self) -> int:
        """How many branches there are."""
        return 1 + max(self.branches.values(), default=0)


def scheduled(graph: Graph, /, branches: int = BRANCHES) -> Schedule:
    """The graph over so many branches: whenever one is free it takes, of what is ready, what most depends on."""
    if branches > 1:
        graph = _with_parts(graph)
    work = _Work(graph)
    order: list[int] = []
    branch_of = [0] * len(graph.nodes)
    end = [0.0] * len(graph.nodes)
    free = [0.0] * branches
    missing = [len(needed) for needed in work.needs]
    ready: list[tuple[float, int]] = []
    coming: list[tuple[float, int]] = []
    """Nodes whose operands are all on their way, by the time when the last is there."""
    for place, count in enumerate(missing):
        if not count:
            heappush(coming, (0.0, place))
    now = 0.0
    while coming or ready:
        while coming and coming[0][0] <= now:
            _, place = heappop(coming)
            heappush(ready, (-work.remaining[place], place))
        later: list[tuple[float, int]] = []
        while ready:
            rank, place = heappop(ready)
            branch = _chosen(work, place, branch_of, end, free, now)
            if branch is None:
                later.append((rank, place))
                continue
            branch_of[place] = branch
            end[place] = now + work.cost[place]
            free[branch] = max(free[branch], end[place])
            order.append(place)
            for user in work.users[place]:
                missing[user] -= 1
                if not missing[user]:
                    at = max(end[one] for one in work.needs[user])
                    if at <= now:
                        heappush(ready, (-work.remaining[user], user))
                    else:
                        heappush(coming, (at, user))
        ready = sorted(later)
        times = [at for at in free if at > now] + [at for at, _ in coming[:1]]
        if ready or coming:
            now = min(times)
    nodes = tuple(graph.nodes[place] for place in order)
    names = {graph.nodes[place].results[0]: branch_of[place] for place in order}
    return Schedule(replace(graph, nodes=nodes), names)


def _chosen(
    work: "_Work", place: int, branch_of: list[int], end: list[float], free: list[float], now: float
) -> int | None:
    """The branch that takes a node now; None if it has to wait for one."""
    last = max(work.needs[place], key=lambda one: (end[one], one), default=None)
    home = 0 if last is None else branch_of[last]
    if work.cost[place] == 0.0 or free[home] <= now:
        return home
    if work.cost[place] < WORTH and work.remaining[place] + now + SLACK > work.total:
        return None
    return next((branch for branch, at in enumerate(free) if at <= now), None)


class _Work:
    """What each node needs and takes, by its place in the graph."""

    def __init__(self, graph: Graph) -> None:
        maker = {number: place for place, node in enumerate(graph.nodes) for number in node.results}
        self.needs = [sorted({maker[number] for number in node.inputs if number in maker}) for node in graph.nodes]
        self.users: list[list[int]] = [[] for _ in graph.nodes]
        for place, needed in enumerate(self.needs):
            for one in needed:
                self.users[one].append(place)
        self.cost = [microseconds(graph, node) for node in graph.nodes]
        self.remaining = list(self.cost)
        """From the start of a node to the end of the step, at least."""
        for place in reversed(range(len(graph.nodes))):
            self.remaining[place] += max((self.remaining[user] for user in self.users[place]), default=0.0)
        self.total = max(self.remaining, default=0.0)
        """The longest chain."""


def _with_parts(graph: Graph) -> Graph:
    """The graph, formulas in parts where many of the members are there long before the last is.

    So the norm of the gradients of most parameters is computed while the last ones come to be."""
    work = _Work(graph)
    end = [0.0] * len(graph.nodes)
    made: dict[int, float] = {}
    nodes: list[Node] = []
    for place, node in enumerate(graph.nodes):
        end[place] = max((end[one] for one in work.needs[place]), default=0.0) + work.cost[place]
        made.update(dict.fromkeys(node.results, end[place]))
        nodes += _parts(graph, node, made) if len(node.arguments) > 3 else [node]
    return replace(graph, nodes=tuple(nodes))


def _parts(graph: Graph, node: Node, made: Mapping[int, float], slack: float = SLACK) -> list[Node]:
    """A node of several members as that of the early ones, perhaps in parts, and that of the others, or as it is."""
    first, formula, *members = node.arguments
    if node.operation != "fused" or not isinstance(formula, Formula) or not isinstance(first, Operand):
        return [node]
    count = len(formula.results) + len(formula.sums)
    ready = [max((made.get(one.number, 0.0) for one in operands(member)), default=0.0) for member in members]
    position = [one.number for one in operands(members[0])].index(first.number)
    parts: list[Node] = []
    for early in (True, False):
        own = [place for place, at in enumerate(ready) if (at + slack < max(ready)) == early]
        if not own:
            return [node]
        results = tuple(number for place in own for number in node.results[place * count : (place + 1) * count])
        chosen = tuple(members[place] for place in own)
        arguments = ([*operands(chosen[0])][position], formula, *chosen)
        parts.append(replace(node, arguments=arguments, results=results, holders=node.holders[: len(results)]))
    soon, late = parts
    if microseconds(graph, soon) < 2 * WORTH:
        return [node]
    return [*_parts(graph, soon, made, 4 * slack), late]


def microseconds(graph: Graph, node: Node) -> float:
    """About how long a node takes on a device: bytes or multiplications, whichever takes longer."""
    if node.operation in _VIEWS:
        return 0.0
    specs = [graph.specs[number] for number in (*node.inputs, *node.results)]
    moved = sum(spec.bytes for spec in specs) / _BYTES
    fast = 2.0 if specs[-1].dtype in (F16, BF16) else 1.0
    return _LAUNCH + max(moved, _multiplications(graph, node) / (_PRODUCTS * fast))


def _multiplications(graph: Graph, node: Node) -> float:
    """Of a product of matrices or a convolution, or its gradients; 0 for others."""
    shapes = [graph.specs[one.number].shape for one in node.arguments if isinstance(one, Operand)]
    result = graph.specs[node.results[0]].shape
    if node.operation == "matmul":
        return float(prod(result) * shapes[0][-1])
    if node.operation == "conv2d":
        return float(prod(result) * prod(shapes[1][1:]))
    if node.operation in ("conv2d_input_grad", "conv2d_input_grad_turned"):
        return float(prod(shapes[0]) * prod(shapes[1][1:]))
    if node.operation == "conv2d_weight_grad":
        return float(prod(shapes[1]) * prod(result[1:]))
    return 0.0
