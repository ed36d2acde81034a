"""What makes a graph smaller and keeps what it computes: each pass a function from graph to graph."""

from moonxi.compiled.passes.common_subexpressions import common_subexpressions
from moonxi.compiled.passes.constant_folding import constant_folding
from moonxi.compiled.passes.dead_code import dead_code

__all__ = ["common_subexpressions", "constant_folding", "dead_code"]
