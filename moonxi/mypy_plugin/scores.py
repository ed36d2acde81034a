"""The check of what scores are made from: ``Logits(x.softmax(-1))`` says of probabilities that they are logits.

The types keep logits, probabilities and their logarithms apart from the moment at which a tensor is wrapped. This is
about that moment: what the wrapped tensor comes from, as far as the function itself says so.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    Expression,
    ForStmt,
    FuncDef,
    IfStmt,
    IndexExpr,
    MatchStmt,
    MemberExpr,
    NameExpr,
    Node,
    Statement,
    TryStmt,
    WhileStmt,
    WithStmt,
)
from mypy.plugin import FunctionContext
from mypy.types import Instance, get_proper_type

from moonxi.mypy_plugin.messages import TENSOR_SCORES
from moonxi.mypy_plugin.shapes.bindings import bound_names
from moonxi.mypy_plugin.shapes.marker import is_mark

_HOME: Final = "moonxi.losses."
_SAME_NUMBERS: Final = (
    "reshape",
    "squeeze",
    "unsqueeze",
    "permute",
    "transpose",
    "broadcast_to",
    "flip",
    "clip",
    "stop_gradient",
)
_LINEAR: Final = ("moonxi.nn.linear.Linear", "moonxi.nn.convolution.Conv2d", "moonxi.nn.bilinear.Bilinear")
_GIVES: Final[Mapping[str, str]] = {
    "softmax": "probabilities",
    "sigmoid": "probabilities of yes",
    "log_softmax": "logarithms of probabilities",
    "forward": "scores that can be any number",
}
_HOLDS: Final[Mapping[str, tuple[str, tuple[str, ...], str]]] = {
    "scores.Logits": (
        "scores before the softmax",
        ("softmax", "sigmoid", "log_softmax"),
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
    source = _source(ctx.args[0][0], body, checker)
    what, refused, advice = holds
    if source is not None and source in refused:
        name = fullname.rpartition(".")[2]
        checker.fail(
            f'"{name}" holds {what}, and {source} gives {_GIVES[source]}: {advice.format(source)}',
            ctx.context,
            code=TENSOR_SCORES,
        )


def _source(node: Expression, body: list[Statement], checker: TypeChecker) -> str | None:
    """The method that has given the numbers, as far as that is certain."""
    match node:
        case IndexExpr():
            return _source(node.base, body, checker)
        case CallExpr(callee=MemberExpr(name=name, expr=before)):
            if name in _SAME_NUMBERS:
                return _source(before, body, checker)
            typ = get_proper_type(checker.lookup_type_or_none(before))
            if name == "forward":
                return name if isinstance(typ, Instance) and typ.type.fullname in _LINEAR else None
            return name if name in _GIVES else None
        case NameExpr():
            values = list(_assigned(node, body))
            value = values[-1] if values else None
            return _source(value, body, checker) if value is not None else None
    return None


def _assigned(use: NameExpr, body: list[Statement]) -> Iterator[Expression | None]:
    """What a name is given before it is used, in order; None for what is not certain."""
    for statement in body:
        if is_mark(statement):  # it has the place of the whole function
            continue
        inner = [block for block in _blocks(statement) if _is_in(use, block)]
        if statement.line > use.line or (_is_in(use, statement) and not inner):
            return
        if inner:
            if use.name in bound_names([statement]) and not isinstance(statement, IfStmt | WithStmt):
                yield None  # a loop comes back with what it assigns later
            yield from _assigned(use, inner[0].body)
            return
        if use.name in bound_names([statement]):
            named = isinstance(statement, AssignmentStmt) and isinstance(statement.lvalues[0], NameExpr)
            yield statement.rvalue if isinstance(statement, AssignmentStmt) and named else None


def _is_in(use: Node, around: Node) -> bool:
    last = around.body[-1] if isinstance(around, Block) and around.body else around
    return around.line <= use.line <= (last.end_line or last.line)


def _blocks(statement: Statement) -> list[Block]:
    match statement:
        case IfStmt():
            blocks = [*statement.body, statement.else_body]
        case ForStmt() | WhileStmt():
            blocks = [statement.body, statement.else_body]
        case WithStmt():
            blocks = [statement.body]
        case TryStmt():
            blocks = [statement.body, *statement.handlers, statement.else_body, statement.finally_body]
        case MatchStmt():
            blocks = list(statement.bodies)
        case _:
            blocks = []
    return [one for one in blocks if one is not None]
