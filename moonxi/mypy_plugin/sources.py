"""Where the numbers of a tensor come from: the method that has given them, as far as the code at hand says so."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    Expression,
    FuncDef,
    IfStmt,
    IndexExpr,
    MemberExpr,
    NameExpr,
    Node,
    ReturnStmt,
    Statement,
    TypeInfo,
    WithStmt,
)
from mypy.types import Instance, get_proper_type

from moonxi.mypy_plugin.shapes.attached import declared
from moonxi.mypy_plugin.shapes.bindings import bound_names
from moonxi.mypy_plugin.shapes.marker import is_mark
from moonxi.mypy_plugin.shapes.objects import method
from moonxi.mypy_plugin.shapes.walk import blocks

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
_GIVING: Final = ("softmax", "log_softmax", "sigmoid")
_LINEAR: Final = ("moonxi.nn.linear.Linear", "moonxi.nn.convolution.Conv2d", "moonxi.nn.bilinear.Bilinear")
_DEEPEST: Final = 4  # function within function


@dataclass(frozen=True, slots=True)
class Source:
    """A method that gives numbers of a kind: of a tensor, or the ``forward`` of a linear layer."""

    method: str
    function: str
    """Where that is: the name of the function; empty for the one that is looked at."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of what is computed in a body, which is that of a method of ``info`` or of none."""

    checker: TypeChecker
    body: list[Statement]
    info: TypeInfo | None
    function: str = ""
    depth: int = 0

    def of(self, node: Expression) -> Source | None:
        """The source of an expression; None where that is not certain."""
        match node:
            case IndexExpr():
                return self.of(node.base)
            case CallExpr(callee=MemberExpr(name=name, expr=before)):
                if name in _SAME_NUMBERS:
                    return self.of(before)
                return Source(name, self.function) if name in _GIVING else self._of_method(before, name)
            case CallExpr(callee=NameExpr(node=FuncDef() as function)):
                return self._of_results(function, None)
            case NameExpr():
                values = list(_assigned(node, self.body))
                return self.of(values[-1]) if values and values[-1] is not None else None
        return None

    def _of_method(self, before: Expression, name: str) -> Source | None:
        typ = get_proper_type(self.checker.lookup_type_or_none(before))
        if isinstance(before, MemberExpr) and isinstance(before.expr, NameExpr) and self.info is not None:
            if before.expr.name == "self":  # of which the type is not known before its method has been checked
                typ = get_proper_type(declared(self.info, before.name))
        elif isinstance(before, NameExpr) and before.name == "self" and self.info is not None:
            return self._of_results(method(self.info, name), self.info)
        if not isinstance(typ, Instance):
            return None
        if name == "forward" and typ.type.fullname in _LINEAR:
            return Source(name, self.function)
        return self._of_results(method(typ.type, name), typ.type)

    def _of_results(self, function: FuncDef | None, info: TypeInfo | None) -> Source | None:
        """What all results of a function come from."""
        if function is None or self.depth == _DEEPEST or function.is_generator or function.is_coroutine:
            return None
        if not self._is_here(function):  # mypy may have forgotten what is in another file
            return None
        name = f"{info.name}.{function.name}" if info is not None else function.name
        inner = Sources(self.checker, function.body.body, info, name, self.depth + 1)
        found = {inner.of(one.expr) if one.expr is not None else None for one in _returns(function.body.body)}
        return found.pop() if len(found) == 1 else None

    def _is_here(self, function: FuncDef) -> bool:
        module = self.checker.tree.fullname
        if function.info:
            return function.info.module_name == module
        return function.fullname in (function.name, f"{module}.{function.name}")


def _returns(body: list[Statement]) -> Iterator[ReturnStmt]:
    for statement in body:
        if isinstance(statement, ReturnStmt):
            yield statement
        for block in blocks(statement):
            yield from _returns(block.body)


def _assigned(use: NameExpr, body: list[Statement]) -> Iterator[Expression | None]:
    """What a name is given before it is used, in order; None for what is not certain."""
    for statement in body:
        if is_mark(statement):  # it has the place of the whole function
            continue
        inner = [block for block in blocks(statement) if _is_in(use, block)]
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
