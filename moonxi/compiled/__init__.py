"""A step, traced once and replayed: `compile` and `repeat`."""

from moonxi.compiled.drawing import dot, draw
from moonxi.compiled.graph import Graph, Node
from moonxi.compiled.optimising import Pass
from moonxi.compiled.repeating import repeat
from moonxi.compiled.report import CompileReport, TraceReport
from moonxi.compiled.step import compile, compile_report

__all__ = [
    "CompileReport",
    "Graph",
    "Node",
    "Pass",
    "TraceReport",
    "compile",
    "compile_report",
    "dot",
    "draw",
    "repeat",
]
