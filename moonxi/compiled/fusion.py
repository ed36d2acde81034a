"""`Fusion`: nodes that a backend computes together, and how such nodes are found in a graph."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from moonxi.compiled.graph import Graph, Node


@dataclass(frozen=True, slots=True)
class Pack:
    """The same program several times, on tensors that each belong to one of them."""

    arrays: tuple[tuple[int, ...], ...]
    """For each array of the program that of each time."""
    results: tuple[tuple[int, ...], ...]
    scalars: tuple[int, ...]
    """The same each time."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """Nodes for which a backend may have one routine."""

    routine: str
    """Its name; `moonxi.traits.kernels` says what each takes and gives."""
    nodes: tuple[Node, ...]
    operands: tuple[int, ...]
    """Values that come from outside, in the order of the routine."""
    results: tuple[int | None, ...]
    """Values that others need, in the order of the routine; None for one that nobody needs."""
    options: tuple[tuple[str, object], ...] = ()
    early: bool = False
    """Whether it is best computed right after its operands, while these are in a cache."""
    pack: Pack | None = None
    """How it consists of the same program several times."""


class Uses:
    """Who makes and who takes each value of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._made_by = {number: node for node in graph.nodes for number in node.results}
        self._users: defaultdict[int, list[Node]] = defaultdict(list)
        for node in graph.nodes:
            for number in dict.fromkeys(node.inputs):
                self._users[number].append(node)
        self._outputs = frozenset(graph.outputs)

    def maker(self, number: int, operation: str | None = None) -> Node | None:
        """The node that makes a value, if it is of this operation."""
        node = self._made_by.get(number)
        return node if node is None or operation is None or node.operation == operation else None

    def users(self, number: int, operation: str | None = None) -> list[Node]:
        """The nodes that take a value, those of this operation."""
        return [node for node in self._users[number] if operation is None or node.operation == operation]

    def needed(self, number: int, inside: Sequence[Node]) -> int | None:
        """The value itself, if it is an output or a node outside of these takes it."""
        others = any(all(node is not one for one in inside) for node in self._users[number])
        return number if others or number in self._outputs else None


def contracted(graph: Graph, fusions: Sequence[Fusion]) -> list[Fusion | Node]:
    """The nodes of a graph, fused ones as one, in an order that works.

    Nodes belong to the first fusion that has them. Fusions that would have to run before and after another node are
    left out."""
    chosen: list[Fusion] = []
    taken: set[int] = set()
    for fusion in fusions:
        if taken.isdisjoint(map(id, fusion.nodes)):
            taken.update(map(id, fusion.nodes))
            chosen.append(fusion)
    while True:
        order, stuck = _ordered(graph, chosen)
        if not stuck:
            return order
        chosen = [fusion for fusion in chosen if fusion is not stuck[-1]]


def _ordered(graph: Graph, fusions: Sequence[Fusion]) -> tuple[list[Fusion | Node], list[Fusion]]:
    """Each unit once all that it needs is there, the earliest first; and fusions that wait for themselves."""
    place = {id(node): number for number, node in enumerate(graph.nodes)}
    fused = {id(node): fusion for fusion in fusions for node in fusion.nodes}
    units: list[Fusion | Node] = [*fusions, *(node for node in graph.nodes if id(node) not in fused)]
    number_of = {id(unit): number for number, unit in enumerate(units)}
    made_in = {value: number_of[id(fused.get(id(node), node))] for node in graph.nodes for value in node.results}
    waits: list[set[int]] = []
    first: list[int] = []
    for number, unit in enumerate(units):
        nodes = unit.nodes if isinstance(unit, Fusion) else (unit,)
        needed = {made_in[value] for node in nodes for value in node.inputs if value in made_in}
        waits.append(needed - {number})
        early = isinstance(unit, Fusion) and unit.early
        first.append(-1 if early else max(place[id(node)] for node in nodes))
    frees: defaultdict[int, list[int]] = defaultdict(list)
    for number, needed in enumerate(waits):
        for other in needed:
            frees[other].append(number)
    ready = [(first[number], number) for number, needed in enumerate(waits) if not needed]
    heapify(ready)
    order: list[Fusion | Node] = []
    while ready:
        _, number = heappop(ready)
        order.append(units[number])
        for other in frees[number]:
            waits[other].discard(number)
            if not waits[other]:
                heappush(ready, (first[other], other))
    stuck = {id(unit) for unit in units} - {id(unit) for unit in order}
    return order, [fusion for fusion in fusions if id(fusion) in stuck]
