"""Gives the plugin control while mypy checks the body of a function.

No hook runs for operations on a type variable, which is what generic code consists of. So each function of a module
gets a first statement ``"...".casefold()``, and the hook for that method is where its body is looked at.
"""

from collections.abc import Iterable

from mypy.nodes import (
    Block,
    CallExpr,
    ClassDef,
    Context,
    Decorator,
    EllipsisExpr,
    ExpressionStmt,
    FuncDef,
    IfStmt,
    Import,
    ImportAll,
    ImportFrom,
    MemberExpr,
    MypyFile,
    Node,
    OverloadedFuncDef,
    PassStmt,
    RaiseStmt,
    Statement,
    StrExpr,
)

METHOD = "builtins.str.casefold"
_TEXT = "moonxi: shapes"


def plant(file: MypyFile) -> None:
    """Mark every function of the file that has a body, and the end of what is outside of functions."""
    _plant(file.defs)
    plant_end(file)


def plant_end(file: MypyFile) -> None:
    """Mark the end of what is outside of functions, before a ``sys.exit(main())`` that nothing may follow."""
    if file.defs and not any(map(is_mark, file.defs[-2:])):
        last = file.defs[-1]
        file.defs.insert(len(file.defs) - isinstance(last, ExpressionStmt | RaiseStmt), _mark(last))


def _plant(nodes: Iterable[Node | None]) -> None:
    for node in nodes:
        match node:
            case FuncDef():
                if not is_empty(node.body.body) and not is_marked(node):
                    node.body.body.insert(0, _mark(node))
                    _plant(node.body.body)
            case Decorator():
                _plant([node.func])
            case OverloadedFuncDef():
                _plant(node.unanalyzed_items)
            case ClassDef():
                _plant(node.defs.body)
            case Block():
                _plant(node.body)
            case IfStmt():
                _plant([*node.body, node.else_body])


def is_mark(node: Context) -> bool:
    """Whether this is the call that `plant` has put there, or its statement."""
    if isinstance(node, ExpressionStmt):
        node = node.expr
    if not isinstance(node, CallExpr) or not isinstance(node.callee, MemberExpr):
        return False
    return isinstance(node.callee.expr, StrExpr) and node.callee.expr.value == _TEXT


def is_marked(function: FuncDef) -> bool:
    """Whether the body of the function starts with a mark."""
    return bool(function.body.body) and is_mark(function.body.body[0])


def imports_moonxi(file: MypyFile) -> bool:
    """Whether the file imports moonxi or a part of it."""
    for statement in file.imports:
        match statement:
            case Import(ids=ids):
                names = [name for name, _ in ids]
            case ImportFrom() | ImportAll():
                names = [statement.id]
            case _:
                continue
        if any(name.partition(".")[0] == "moonxi" for name in names):
            return True
    return False


def is_empty(body: Iterable[Statement]) -> bool:
    """Without statements of its own: mypy treats such bodies, as those of Protocols, by rules of their own."""
    for statement in body:
        if is_mark(statement):
            continue
        text = isinstance(statement, ExpressionStmt) and isinstance(statement.expr, StrExpr | EllipsisExpr)
        if not text and not isinstance(statement, PassStmt):
            return False
    return True


def _mark(place: Context) -> ExpressionStmt:
    text = StrExpr(_TEXT)
    member = MemberExpr(text, METHOD.rpartition(".")[2])
    call = CallExpr(member, [], [], [])
    statement = ExpressionStmt(call)
    for node in (text, member, call, statement):
        node.set_line(place)
    return statement
