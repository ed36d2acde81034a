"""All passes on a graph, in the order that lets each find most."""

from collections.abc import Collection, Mapping
from typing import Final, Literal, get_args

from moonxi.compiled.graph import Graph
from moonxi.compiled.passes import (
    biases_before_norms,
    common_subexpressions,
    constant_folding,
    dead_code,
    identities,
    relu_masks,
    softmax_rules,
)
from moonxi.dtypes import DType

type Pass = Literal[
    "biases_before_norms",
    "common_subexpressions",
    "constant_folding",
    "dead_code",
    "identities",
    "relu_masks",
    "softmax_rules",
    "convolutions",
    "large_tiles",
    "normalisations",
    "poolings",
    "sums_of_squares",
    "packing",
    "fusion",
    "waves",
    "memory_plan",
    "numba",
    "tuned_plans",
    "branches",
]
"""What can be left out, to look for a fault: passes on the graph, what is computed together, and how it is planned."""
PASSES: Final[tuple[str, ...]] = get_args(Pass.__value__)


def optimised(graph: Graph, examples: Mapping[type[DType], object], without: Collection[Pass] = (), /) -> Graph:
    """The graph after the passes; ``examples`` has a tensor of the backend for each element type."""
    if "common_subexpressions" not in without:
        graph = common_subexpressions(graph)
    if "identities" not in without:
        graph = identities(graph)
    if "biases_before_norms" not in without:
        graph = biases_before_norms(graph)
    if "constant_folding" not in without:
        graph = constant_folding(graph, examples)
    if "relu_masks" not in without:
        graph = relu_masks(graph)
    if "softmax_rules" not in without:
        graph = softmax_rules(graph)
    if "dead_code" not in without:
        graph = dead_code(graph)
    return graph
