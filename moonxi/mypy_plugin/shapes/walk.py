"""All the statements and expressions within some; mypy's own visitor is compiled, and cannot be derived from."""

from collections.abc import Iterable, Iterator

from mypy.nodes import (
    AssignmentStmt,
    Block,
    Expression,
    ForStmt,
    IfStmt,
    MatchStmt,
    MemberExpr,
    NameExpr,
    Node,
    Statement,
    TryStmt,
    WhileStmt,
    WithStmt,
)
from mypy.patterns import Pattern


def walked(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes and what is within them."""
    left = list(nodes)
    while left:
        node = left.pop()
        yield node
        match node:
            case NameExpr():  # leads to what the name stands for
                continue
            case MemberExpr():
                left.append(node.expr)
            case AssignmentStmt():  # whose names for patterns have a mistake in mypy 2.4: "rvalues"
                left += [*node.lvalues, node.rvalue]
            case _:
                for name in getattr(node, "__match_args__", ()):
                    left.extend(_parts(getattr(node, name, None)))


def blocks(statement: Node | None) -> list[Block]:
    """The blocks of a statement, in order; of a function or class none: they are not run where they stand."""
    found: list[Block | None] = []
    match statement:
        case Block():
            found = [statement]
        case IfStmt():
            found = [*statement.body, statement.else_body]
        case ForStmt() | WhileStmt():
            found = [statement.body, statement.else_body]
        case WithStmt():
            found = [statement.body]
        case TryStmt():
            found = [statement.body, *statement.handlers, statement.else_body, statement.finally_body]
        case MatchStmt():
            found = list(statement.bodies)
    return [one for one in found if one is not None]


def _parts(value: object) -> Iterator[Node]:
    if isinstance(value, Expression | Statement | Pattern):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _parts(one)
