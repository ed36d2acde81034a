"""What makes a graph smaller, each a function from graph to graph, and what finds nodes that are computed together."""

from moonxi.compiled.passes.common_subexpressions import common_subexpressions
from moonxi.compiled.passes.constant_folding import constant_folding
from moonxi.compiled.passes.convolutions import convolutions
from moonxi.compiled.passes.dead_code import dead_code

__all__ = ["common_subexpressions", "constant_folding", "convolutions", "dead_code"]
