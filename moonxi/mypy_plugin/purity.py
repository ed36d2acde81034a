"""Functions that certainly do nothing but give a value."""

from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    Decorator,
    Expression,
    ExpressionStmt,
    FuncDef,
    IfStmt,
    IndexExpr,
    LambdaExpr,
    MemberExpr,
    NameExpr,
    Node,
    OverloadedFuncDef,
    PassStmt,
    RefExpr,
    ReturnStmt,
    Statement,
    StrExpr,
    TupleExpr,
    TypeInfo,
)
from mypy.types import Instance, TypeVarType, get_proper_type

from moonxi.mypy_plugin.shapes.marker import is_mark
from moonxi.mypy_plugin.shapes.objects import is_frozen, is_tensor, method
from moonxi.mypy_plugin.shapes.walk import walked

_OWN: Final = "moonxi."
_PLAIN: Final = ("builtins.", "dataclasses.replace", "functools.partial", "math.")
_IMPURE: Final = ("builtins.print", "builtins.setattr", "builtins.next", "builtins.input", "builtins.open")
_DEEPEST: Final = 4  # function within function


def is_pure(node: Expression | FuncDef, checker: TypeChecker, depth: int = 0) -> bool:
    """Whether a call of what the expression stands for certainly has no effect but its result."""
    if depth > _DEEPEST:
        return False
    match node:
        case FuncDef():
            if node.fullname.startswith(_OWN):
                return True
            return bool(node.body.body) and all(_only_computes(one, checker, depth) for one in node.body.body)
        case LambdaExpr():
            return all(_only_computes(one, checker, depth) for one in node.body.body)
        case RefExpr(node=Decorator(func=decorated)):
            return _is_pure_name(decorated.fullname) or is_pure(decorated, checker, depth + 1)
        case RefExpr(node=FuncDef() as function):
            return _is_pure_name(function.fullname) or is_pure(function, checker, depth + 1)
        case RefExpr(node=OverloadedFuncDef(fullname=name)):
            return _is_pure_name(name)
        case RefExpr(node=TypeInfo() as info):
            return _is_pure_name(info.fullname) or is_frozen(info)
        case IndexExpr(base=base):  # Linear[NpArray]
            return is_pure(base, checker, depth)
        case MemberExpr():
            return _is_pure_method(node, checker, depth)
        case CallExpr():  # a function that is made, such as functools.partial
            return is_pure(node.callee, checker, depth) and all(is_pure(one, checker, depth) for one in node.args[:1])
    return False


def _is_pure_method(node: MemberExpr, checker: TypeChecker, depth: int) -> bool:
    """A method of a tensor or of a layer; of any other object it may be there for what it does."""
    typ = get_proper_type(checker.lookup_type_or_none(node.expr))
    if typ is None and isinstance(node.expr, NameExpr):
        typ = get_proper_type(getattr(node.expr.node, "type", None))
    if typ is None:
        return False
    if is_tensor(typ):
        return True
    if isinstance(typ, TypeVarType):
        typ = get_proper_type(typ.upper_bound)
    found = method(typ.type, node.name) if isinstance(typ, Instance) else None
    return found is not None and is_frozen(found.info) and is_pure(found, checker, depth + 1)


def _is_pure_name(name: str) -> bool:
    return name.startswith((_OWN, *_PLAIN)) and name not in _IMPURE


def _only_computes(statement: Statement, checker: TypeChecker, depth: int) -> bool:
    """Whether a statement only gives names to values and returns them."""
    match statement:
        case PassStmt():
            return True
        case ExpressionStmt() if is_mark(statement) or isinstance(statement.expr, StrExpr):
            return True
        case ReturnStmt(expr=value):
            return value is None or _calls_only_pure(value, checker, depth)
        case AssignmentStmt(lvalues=targets, rvalue=value):
            return all(isinstance(one, NameExpr | TupleExpr) for one in targets) and _calls_only_pure(
                value, checker, depth
            )
        case IfStmt():
            blocks = [*statement.body, *([statement.else_body] if statement.else_body is not None else [])]
            return all(_calls_only_pure(one, checker, depth) for one in statement.expr) and all(
                _only_computes(one, checker, depth) for block in blocks for one in block.body
            )
    return False


def _calls_only_pure(node: Node, checker: TypeChecker, depth: int) -> bool:
    return all(is_pure(one.callee, checker, depth) for one in walked([node]) if isinstance(one, CallExpr))
