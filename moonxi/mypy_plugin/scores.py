"""The check of what scores are made from: ``Logits(x.softmax(-1))`` says of probabilities that they are logits.

The types keep logits, probabilities and their logarithms apart from the moment at which a tensor is wrapped. This is
about that moment: what the wrapped tensor comes from, as far as the code at hand says so.
"""

from collections.abc import Mapping
from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import FuncDef
from mypy.plugin import FunctionContext

from moonxi.mypy_plugin.messages import TENSOR_SCORES
from moonxi.mypy_plugin.sources import Sources

_HOME: Final = "moonxi.losses."
_GIVES: Final[Mapping[str, str]] = {
    "softmax": "probabilities",
    "sigmoid": "probabilities of yes",
    "log_softmax": "logarithms of probabilities",
    "forward": "scores that can be any number",
}
_HOLDS: Final[Mapping[str, tuple[str, tuple[str, ...], str]]] = {
    "scores.Logits": (
        "scores before the softmax",
        ("softmax", "sigmoid"),  # logarithms of probabilities are scores: their softmax gives the probabilities
        "leave the {} out: the loss applies it",
    ),
    "binary_scores.BinaryLogits": (
        "scores before the sigmoid",
        ("softmax", "sigmoid", "log_softmax"),
        "leave the {} out: the loss applies it",
    ),
    "scores.LogProbs": (
        "logarithms of probabilities",
        ("softmax", "sigmoid", "forward"),
        "write Logits(x).log_probs()",
    ),
    "scores.Probs": ("probabilities of classes", ("log_softmax", "sigmoid", "forward"), "write Logits(x).probs()"),
    "binary_scores.BinaryProbs": (
        "probabilities of yes",
        ("log_softmax", "forward"),
        "write BinaryLogits(x).probs()",
    ),
}
"""For each class: what it holds, what does not give that, and what to do instead."""


def check_scores(ctx: FunctionContext, fullname: str, checker: TypeChecker) -> None:
    """Report a call that makes scores from what is certainly something else."""
    holds = _HOLDS.get(fullname.removeprefix(_HOME)) if fullname.startswith(_HOME) else None
    if holds is None or not ctx.args or len(ctx.args[0]) != 1:
        return
    if not checker.in_checked_function() or not checker.msg.errors.is_error_code_enabled(TENSOR_SCORES):
        return
    function = checker.scope.current_function()
    body = function.body.body if isinstance(function, FuncDef) else checker.tree.defs
    info = function.info if isinstance(function, FuncDef) and function.info else None
    found = Sources(checker, body, info).of(ctx.args[0][0])
    what, refused, advice = holds
    if found is not None and found.method in refused:
        where = f", in {found.function}," if found.function else ""
        name, method = fullname.rpartition(".")[2], found.method
        checker.fail(
            f'"{name}" holds {what}, and {method}{where} gives {_GIVES[method]}: {advice.format(method)}',
            ctx.context,
            code=TENSOR_SCORES,
        )
