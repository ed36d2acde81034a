"""What depends on no argument is computed once, when the step is compiled."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from moonxi.compiled.graph import Graph, Node, Operand
from moonxi.compiled.interpreter import computed
from moonxi.dtypes import DType

_MADE: Final = frozenset({"from_host", "full", "labels", "normal", "ones", "uniform", "zeros"})
"""Of their tensor these take the class and the element type only."""
FROM_ARRAYS: Final = frozenset({"from_host", "labels"})
"""These bring arrays of the host, which nobody changes, to where a tensor lives."""


def constant_folding(
    graph: Graph, examples: Mapping[type[DType], object], /, only: Collection[str] | None = None
) -> Graph:
    """The graph with constants for such nodes; ``examples`` has a tensor of the backend for each element type.

    ``only`` says which operations. A node that would raise stays, so that it raises at the replay, as it does
    eagerly."""
    constants = dict(graph.constants)
    kept: list[Node] = []
    for node in graph.nodes:
        needed = node.inputs[1:] if node.operation in _MADE else node.inputs
        like = _like(graph, node, constants, examples)
        if (
            (only is not None and node.operation not in only)
            or like is None
            or not all(number in constants for number in needed)
        ):
            kept.append(node)
            continue
        try:
            results = computed(node, {**constants, **like})
        except Exception:
            kept.append(node)
            continue
        constants.update(zip(node.results, results, strict=True))
    return replace(graph, nodes=tuple(kept), constants=constants)


def _like(
    graph: Graph, node: Node, constants: Mapping[int, object], examples: Mapping[type[DType], object]
) -> dict[int, object] | None:
    """What stands for the tensor that a node makes others like."""
    first = node.arguments[0]
    if node.operation not in _MADE or not isinstance(first, Operand) or first.number in constants:
        return {}
    dtype = graph.specs[first.number].dtype
    example = None if dtype is None else examples.get(dtype)
    return None if example is None else {first.number: example}
