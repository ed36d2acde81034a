"""The check of results that are dropped: ``model.map(to_device)`` as a statement leaves the model where it was.

Tensors, models and what optimizers remember are values. A function that gives the next one changes nothing, so that a
call of it whose result goes nowhere does nothing at all.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import (
    Block,
    CallExpr,
    ClassDef,
    Decorator,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    MatchStmt,
    MemberExpr,
    NameExpr,
    Node,
    OverloadedFuncDef,
    TryStmt,
    WhileStmt,
    WithStmt,
)
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Instance, TupleType, Type, get_proper_type

from moonxi.mypy_plugin.messages import TENSOR_UNUSED
from moonxi.mypy_plugin.module_map import is_module

_FUNCTIONS: Final = (
    "moonxi.nn.state_dict.load_state_dict",
    "moonxi.nn.weights.load",
    "moonxi.optim.accumulation.mean_gradients",
    "moonxi.optim.clipping.clip_by_global_norm",
    "moonxi.optim.clipping.clip_by_value",
)
_STATES: Final = (
    "moonxi.optim.ema.EmaState",
    "moonxi.optim.plateau.PlateauState",
    "moonxi.optim.updating.OptimizerState",
)


def check_unused(
    ctx: FunctionContext | MethodContext, fullname: str, dropped: frozenset[int], checker: TypeChecker
) -> None:
    """Report a call that only gives a new value, and stands as a statement."""
    if id(ctx.context) not in dropped or not checker.msg.errors.is_error_code_enabled(TENSOR_UNUSED):
        return
    if isinstance(ctx, MethodContext):
        if not isinstance(get_proper_type(ctx.type), Instance) or not _is_next(ctx.default_return_type):
            return
    elif fullname not in _FUNCTIONS:
        return
    checker.fail(
        f'"{fullname.rpartition(".")[2]}" changes nothing that is there: what it gives is dropped here; assign it',
        ctx.context,
        code=TENSOR_UNUSED,
    )


def dropped_calls(nodes: Iterable[Node | None]) -> Iterator[int]:
    """The identities of the calls that are statements; not of those from which an error is expected."""
    for node in nodes:
        match node:
            case ExpressionStmt(expr=CallExpr()):
                yield id(node.expr)
            case FuncDef():
                yield from dropped_calls([node.body])
            case Decorator():
                yield from dropped_calls([node.func])
            case OverloadedFuncDef():
                yield from dropped_calls(node.items)
            case ClassDef():
                yield from dropped_calls([node.defs])
            case Block():
                yield from dropped_calls(node.body)
            case IfStmt():
                yield from dropped_calls([*node.body, node.else_body])
            case ForStmt() | WhileStmt():
                yield from dropped_calls([node.body, node.else_body])
            case WithStmt() if not any(map(_expects_errors, node.expr)):
                yield from dropped_calls([node.body])
            case TryStmt() if not node.handlers:
                yield from dropped_calls([node.body, node.finally_body])
            case MatchStmt():
                yield from dropped_calls(node.bodies)


def _is_next(typ: Type) -> bool:
    """Whether a value of the type takes the place of an earlier one."""
    proper = get_proper_type(typ)
    if isinstance(proper, TupleType):
        return any(map(_is_next, proper.items))
    return isinstance(proper, Instance) and (proper.type.fullname in _STATES or is_module(proper.type))


def _expects_errors(node: Expression) -> bool:
    callee = node.callee if isinstance(node, CallExpr) else None
    return isinstance(callee, NameExpr | MemberExpr) and callee.name in ("raises", "suppress", "assertRaises")
