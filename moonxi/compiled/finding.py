"""All that can be fused in a graph, by the passes that are not left out, and the routines of a backend for it."""

from collections.abc import Callable, Collection
from typing import Final

import numpy as np

from moonxi.compiled.fusion import Fusion, Uses
from moonxi.compiled.graph import Graph, Node
from moonxi.compiled.optimising import Pass
from moonxi.compiled.passes import convolutions, normalisations, packing, poolings, sums_of_squares
from moonxi.traits.kernels import Form, Request, Routine, WithKernels

_PASSES: Final[dict[Pass, Callable[[Graph, Uses], list[Fusion]]]] = {
    "convolutions": convolutions,
    "normalisations": normalisations,
    "poolings": poolings,
    "sums_of_squares": sums_of_squares,
}
"""The first that finds a node has it."""


def found(
    graph: Graph,
    uses: Uses,
    backend: type[WithKernels],
    elementwise: Callable[[Node], bool],
    without: Collection[Pass],
    /,
) -> list[tuple[Fusion, Routine]]:
    """The fusions of a graph with the backend's routines; ``elementwise`` tells such nodes."""
    fusions = [fusion for name, find in _PASSES.items() if name not in without for fusion in find(graph, uses)]
    if "packing" not in without:
        fusions += packing(graph, uses, elementwise)
    made = [(fusion, _routine(graph, fusion, backend, without)) for fusion in fusions]
    return [(fusion, routine) for fusion, routine in made if routine is not None]


def _routine(graph: Graph, fusion: Fusion, backend: type[WithKernels], without: Collection[Pass]) -> Routine | None:
    maker = backend.routine(fusion.routine, {node.operation for node in fusion.nodes})
    if maker is None:
        return None
    operands = [form(graph, number) for number in fusion.operands]
    results = [None if number is None else form(graph, number) for number in fusion.results]
    numba, large_tiles = "numba" not in without, "large_tiles" not in without
    return maker(Request(operands, results, dict(fusion.options), numba, large_tiles))


def form(graph: Graph, number: int) -> Form:
    """What is known of the array of a value."""
    spec = graph.specs[number]
    assert spec.dtype is not None, "keys have no array"
    return Form(spec.shape, np.dtype(spec.dtype.type))
