"""All that can be fused in a graph, by the passes that are not left out."""

from collections.abc import Callable, Collection
from typing import Final

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph
from moonxi.compiled.optimising import Pass
from moonxi.compiled.passes import convolutions, normalisations, poolings, sums_of_squares

_PASSES: Final[dict[Pass, Callable[[Graph, Uses], list[Fusion]]]] = {
    "convolutions": convolutions,
    "normalisations": normalisations,
    "poolings": poolings,
    "sums_of_squares": sums_of_squares,
}
"""The first that finds a node has it."""


def found(graph: Graph, without: Collection[Pass], /) -> list[Fusion]:
    """The fusions of a graph, for a backend that has routines for them."""
    uses = Uses(graph)
    return [fusion for name, find in _PASSES.items() if name not in without for fusion in find(graph, uses)]
