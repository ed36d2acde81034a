"""Equal element-wise computations of results, such as the updates of all parameters, as one over packed memory.

What an optimizer does to one parameter it does to each. A step of it then runs once over all elements in a row instead
of once for each parameter, and block by block, so that what lies between the steps stays in a cache.

Routine ``elementwise``: operands are the arrays and the scalars of the option ``program``, and so are its results.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from moonxi.compiled.fusion import Fusion, Pack, Uses
from moonxi.compiled.graph import Graph, Node, Operand
from moonxi.dtypes import Bool
from moonxi.traits.kernels import Program, Register, Step

_LEAST: Final = 1 << 15
"""Elements from which on it is worth while for a single tensor."""


@dataclass(frozen=True, slots=True)
class _Time:
    """What is computed once: from which arrays, and which results of it somebody needs."""

    nodes: list[Node]
    arrays: list[int]
    results: list[int]


def packing(graph: Graph, uses: Uses, elementwise: Callable[[Node], bool], /) -> list[Fusion]:
    """One for each set of equal computations, of which nothing but results of the step is needed elsewhere."""
    alike: defaultdict[tuple[Program, object, tuple[int, ...]], list[_Time]] = defaultdict(list)
    for nodes in _components(graph, uses, _candidates(graph, uses, elementwise)):
        arrays, scalars, program = _program(graph, uses, nodes)
        results = [nodes[register - len(arrays) - len(scalars)].results[0] for register in program.results]
        alike[program, graph.specs[results[0]].dtype, tuple(scalars)].append(_Time(nodes, arrays, results))
    fusions: list[Fusion] = []
    for (program, _, same), times in alike.items():
        if len(times) == 1 and prod(graph.specs[times[0].results[0]].shape) < _LEAST:
            continue
        pack = Pack(
            tuple(zip(*(time.arrays for time in times), strict=True)),
            tuple(zip(*(time.results for time in times), strict=True)),
            same,
        )
        fused = tuple(node for time in times for node in time.nodes)
        operands = *(number for slot in pack.arrays for number in slot), *same
        given_out = tuple(number for slot in pack.results for number in slot)
        fusions.append(Fusion("elementwise", fused, operands, given_out, (("program", program),), pack=pack))
    return fusions


def _candidates(graph: Graph, uses: Uses, elementwise: Callable[[Node], bool]) -> list[Node]:
    """Element-wise nodes on tensors of one shape and on scalars, that nobody but each other and the results needs."""

    def fits(node: Node) -> bool:
        spec = graph.specs[node.results[0]]
        mine = [graph.specs[number] for number in node.inputs]
        return (
            len(spec.shape) > 0
            and prod(spec.shape) > 0
            and elementwise(node)
            and not dict(node.options)
            and all(one.shape in ((), spec.shape) for one in mine)
            and len({one.dtype for one in (*mine, spec) if one.dtype is not Bool}) == 1
            and any(one.shape for one in mine)
        )

    chosen = {id(node) for node in graph.nodes if fits(node)}
    outputs = set(graph.outputs)

    def is_inside(node: Node) -> bool:
        users = uses.users(node.results[0])
        needed = bool(users) or node.results[0] in outputs
        masks = [number for number in node.inputs if graph.specs[number].dtype is Bool]
        return (
            needed
            and not (node.results[0] in outputs and graph.specs[node.results[0]].dtype is Bool)
            and all(id(user) in chosen for user in users)
            and all(id(uses.maker(number)) in chosen for number in masks)
        )

    while outside := {id(node) for node in graph.nodes if id(node) in chosen and not is_inside(node)}:
        chosen -= outside
    return [node for node in graph.nodes if id(node) in chosen]


def _components(graph: Graph, uses: Uses, nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes that are connected by values of their shape, in order."""
    part: dict[int, list[Node]] = {}
    for node in nodes:
        mine = [node]
        for number in dict.fromkeys(node.inputs):
            maker = uses.maker(number)
            before = None if maker is None else part.get(id(maker))
            if before is not None and before is not mine and graph.specs[number].shape:
                mine = [*before, *mine]
                part.update((id(one), mine) for one in mine)
        part[id(node)] = mine
        part.update((id(one), mine) for one in mine)
    place = {id(node): number for number, node in enumerate(nodes)}
    found = {id(mine): mine for mine in part.values()}
    return [sorted({id(one): one for one in mine}.values(), key=lambda one: place[id(one)]) for mine in found.values()]


def _program(graph: Graph, uses: Uses, nodes: Sequence[Node]) -> tuple[list[int], list[int], Program]:
    """The arrays and scalars that come from outside, and what is computed from them."""
    own = {node.results[0] for node in nodes}
    outside = list(dict.fromkeys(number for node in nodes for number in node.inputs if number not in own))
    arrays = [number for number in outside if graph.specs[number].shape]
    scalars = [number for number in outside if not graph.specs[number].shape]
    register = {number: n for n, number in enumerate((*arrays, *scalars, *(node.results[0] for node in nodes)))}

    def written(argument: object) -> Register | float:
        if isinstance(argument, Operand):
            return Register(register[argument.number])
        assert isinstance(argument, float | int), "element-wise operations take tensors and numbers"
        return float(argument)

    steps = tuple(
        Step(node.operation, tuple(map(written, node.arguments)), graph.specs[node.results[0]].dtype is Bool)
        for node in nodes
    )
    results = tuple(register[node.results[0]] for node in nodes if node.results[0] in graph.outputs)
    return arrays, scalars, Program(len(arrays), len(scalars), steps, results)
