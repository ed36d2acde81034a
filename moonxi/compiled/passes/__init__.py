"""What makes a graph smaller, each a function from graph to graph, and what finds nodes that are computed together."""

from moonxi.compiled.passes.biases_before_norms import biases_before_norms
from moonxi.compiled.passes.common_subexpressions import common_subexpressions
from moonxi.compiled.passes.constant_folding import constant_folding
from moonxi.compiled.passes.convolutions import convolutions
from moonxi.compiled.passes.dead_code import dead_code
from moonxi.compiled.passes.identities import identities
from moonxi.compiled.passes.normalisations import normalisations
from moonxi.compiled.passes.packing import packing
from moonxi.compiled.passes.poolings import poolings
from moonxi.compiled.passes.relu_masks import relu_masks
from moonxi.compiled.passes.softmax_rules import softmax_rules
from moonxi.compiled.passes.sums_of_squares import sums_of_squares

__all__ = [
    "biases_before_norms",
    "common_subexpressions",
    "constant_folding",
    "convolutions",
    "dead_code",
    "identities",
    "normalisations",
    "packing",
    "poolings",
    "relu_masks",
    "softmax_rules",
    "sums_of_squares",
]
