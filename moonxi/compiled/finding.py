"""All that can be fused in a graph, by the passes that are not left out."""

from collections.abc import Callable, Collection
from typing import Final

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph, Node
from moonxi.compiled.optimising import Pass
from moonxi.compiled.passes import convolutions, normalisations, packing, poolings, sums_of_squares

_PASSES: Final[dict[Pass, Callable[[Graph, Uses], list[Fusion]]]] = {
    "convolutions": convolutions,
    "normalisations": normalisations,
    "poolings": poolings,
    "sums_of_squares": sums_of_squares,
}
"""The first that finds a node has it."""


def found(graph: Graph, uses: Uses, elementwise: Callable[[Node], bool], without: Collection[Pass], /) -> list[Fusion]:
    """The fusions of a graph, for a backend that has routines for them; ``elementwise`` tells such nodes."""
    fusions = [fusion for name, find in _PASSES.items() if name not in without for fusion in find(graph, uses)]
    return fusions if "packing" in without else [*fusions, *packing(graph, uses, elementwise)]
