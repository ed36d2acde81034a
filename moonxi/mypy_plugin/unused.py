"""The check of results that are dropped: ``model.map(to_device)`` as a statement leaves the model where it was.

Tensors, models and what optimizers remember are values. A function that gives the next one changes nothing, so that a
call of it whose result goes nowhere does nothing at all.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import (
    CallExpr,
    ClassDef,
    Context,
    Decorator,
    Expression,
    ExpressionStmt,
    FuncDef,
    MemberExpr,
    NameExpr,
    Node,
    OverloadedFuncDef,
    TryStmt,
    WithStmt,
)
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Instance, TupleType, Type, get_proper_type

from moonxi.mypy_plugin.messages import TENSOR_UNUSED
from moonxi.mypy_plugin.module_map import is_module
from moonxi.mypy_plugin.purity import is_pure
from moonxi.mypy_plugin.shapes.objects import is_tensor, method
from moonxi.mypy_plugin.shapes.walk import blocks, walked

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
    """Report a call that certainly does nothing but give a new value, and stands as a statement."""
    if id(ctx.context) not in dropped or not checker.msg.errors.is_error_code_enabled(TENSOR_UNUSED):
        return
    name = fullname.rpartition(".")[2].partition(" of ")[0]  # of a method of a type variable mypy tells the bound
    if isinstance(ctx, MethodContext):
        of_tensor = is_tensor(get_proper_type(ctx.type)) and _is_used_later(ctx.context, checker)
        next_one = _is_next(ctx.default_return_type) and _only_gives(ctx, name, checker)
        if not next_one and not (of_tensor and is_tensor(get_proper_type(ctx.default_return_type))):
            return
    elif fullname not in _FUNCTIONS:
        return
    checker.fail(
        f'"{name}" changes nothing that is there: what it gives is dropped here; assign it',
        ctx.context,
        code=TENSOR_UNUSED,
    )


def _is_used_later(node: Context, checker: TypeChecker) -> bool:
    """Whether the tensor of a dropped ``x.relu()`` is read further down, as if the call had changed it."""
    tensor = _name(node.callee.expr) if isinstance(node, CallExpr) and isinstance(node.callee, MemberExpr) else None
    if tensor is None:
        return False
    function = checker.scope.current_function()
    body = function.body.body if isinstance(function, FuncDef) else checker.tree.defs
    later = [one for one in walked(body) if one.line > node.line]
    statements = [one.expr for one in later if isinstance(one, ExpressionStmt)]
    # What other statements of this kind do with it is dropped as well, but for functions such as print.
    lost = [one for one in statements if not (isinstance(one, CallExpr) and isinstance(one.callee, NameExpr))]
    unread = set(map(id, walked(lost)))
    return any(_name(one) == tensor and id(one) not in unread for one in later)


def _name(node: Node) -> str | None:
    """``x`` or ``self.scores`` as text."""
    if isinstance(node, MemberExpr):
        before = _name(node.expr)
        return None if before is None else f"{before}.{node.name}"
    return node.name if isinstance(node, NameExpr) else None


def _only_gives(ctx: MethodContext, name: str, checker: TypeChecker) -> bool:
    """Whether the method has no effect but its result: one of moonxi's, or one whose body says so.

    What is done to every parameter of a model can be done for its effect, as in ``model.map(shapes.append)``."""
    typ = get_proper_type(ctx.type)
    function = method(typ.type, name) if isinstance(typ, Instance) else None
    if function is None:
        return False
    if name == "map" and isinstance(typ, Instance) and is_module(typ.type):
        return all(is_pure(one, checker) for some in ctx.args for one in some)
    return is_pure(function, checker)


def dropped_calls(nodes: Iterable[Node]) -> Iterator[int]:
    """The identities of the calls that are statements; not of those from which an error is expected."""
    for node in nodes:
        match node:
            case ExpressionStmt(expr=CallExpr()):
                yield id(node.expr)
            case FuncDef():
                yield from dropped_calls(node.body.body)
            case Decorator():
                yield from dropped_calls([node.func])
            case OverloadedFuncDef():
                yield from dropped_calls(node.unanalyzed_items)
            case ClassDef():
                yield from dropped_calls(node.defs.body)
            case WithStmt() if any(map(_expects_errors, node.expr)):
                pass
            case TryStmt() if node.handlers:
                pass
            case _:
                yield from dropped_calls(one for block in blocks(node) for one in block.body)


def _is_next(typ: Type) -> bool:
    """Whether a value of the type takes the place of an earlier one."""
    proper = get_proper_type(typ)
    if isinstance(proper, TupleType):
        return any(map(_is_next, proper.items))
    return isinstance(proper, Instance) and (proper.type.fullname in _STATES or is_module(proper.type))


def _expects_errors(node: Expression) -> bool:
    callee = node.callee if isinstance(node, CallExpr) else None
    return isinstance(callee, NameExpr | MemberExpr) and callee.name in ("raises", "suppress", "assertRaises")
