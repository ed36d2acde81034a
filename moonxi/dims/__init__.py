"""Symbolic integers for the sizes of axes: arithmetic, questions with three answers, text, unification.

A ``Size`` is an ``int`` or a ``Dim``, an integer polynomial over names, floor divisions and maxima, with the
arithmetic of ``int``: ``(symbol("h") + 2 - 3) // 2 + 1`` is ``(h-1)//2+1``. Uses the standard library only.
"""

from moonxi.dims.dim import Dim, Size, ceil_div, maximum, minimum, symbol, unknown
from moonxi.dims.example import Example, example, symbolic
from moonxi.dims.facts import (
    Answer,
    can_differ,
    equal,
    less,
    provably_at_most,
    provably_different,
    provably_equal,
    provably_less,
)
from moonxi.dims.parse import parse
from moonxi.dims.remainders import can_agree
from moonxi.dims.solve import solve, unrounded
from moonxi.dims.substitution import evaluate, is_clamped, is_rounded, substitute, symbols, unknowns
from moonxi.dims.unify import Unification, unify

__all__ = [
    "Answer",
    "Dim",
    "Example",
    "Size",
    "Unification",
    "can_agree",
    "can_differ",
    "ceil_div",
    "equal",
    "evaluate",
    "example",
    "is_clamped",
    "is_rounded",
    "less",
    "maximum",
    "minimum",
    "parse",
    "provably_at_most",
    "provably_different",
    "provably_equal",
    "provably_less",
    "solve",
    "substitute",
    "symbol",
    "symbolic",
    "symbols",
    "unify",
    "unknown",
    "unknowns",
    "unrounded",
]
