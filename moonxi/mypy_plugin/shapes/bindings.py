"""The names that statements bind."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    Decorator,
    DelStmt,
    Expression,
    ForStmt,
    FuncDef,
    Import,
    ImportFrom,
    IndexExpr,
    ListExpr,
    MatchStmt,
    MemberExpr,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    StarExpr,
    Statement,
    TryStmt,
    TupleExpr,
    WithStmt,
)
from mypy.patterns import AsPattern, ClassPattern, MappingPattern, OrPattern, Pattern, SequencePattern, StarredPattern

from moonxi.mypy_plugin.shapes.walk import blocks, walked

_CHANGES = ("append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort")


def bound_names(nodes: Iterable[Node | None]) -> Iterator[str]:
    """All names that the statements bind, those within them too."""
    for node in nodes:
        match node:
            case AssignmentStmt():
                yield from _targets(node.lvalues)
            case OperatorAssignmentStmt():
                yield from _targets([node.lvalue])
            case DelStmt():
                yield from _targets([node.expr])
            case FuncDef() | ClassDef():
                yield node.name
            case Decorator():
                yield node.func.name
            case Import():
                yield from (alias or name.partition(".")[0] for name, alias in node.ids)
            case ImportFrom():
                yield from (alias or name for name, alias in node.names)
            case ForStmt():
                yield from _targets([node.index])
            case WithStmt():
                yield from _targets(node.target)
            case TryStmt():
                yield from _targets(node.vars)
            case MatchStmt():
                for pattern in node.patterns:
                    yield from captured_names(pattern)
        yield from bound_names(one for block in blocks(node) for one in block.body)


def _targets(targets: Iterable[Expression | None]) -> Iterator[str]:
    for target in targets:
        match target:
            case NameExpr():
                yield target.name
            case StarExpr():
                yield from _targets([target.expr])
            case TupleExpr() | ListExpr():
                yield from _targets(target.items)


def captured_names(pattern: Pattern | None) -> Iterator[str]:
    """The names that a pattern binds."""
    inner: list[Pattern | None] = []
    match pattern:
        case AsPattern():
            yield from _targets([pattern.name])
            inner = [pattern.pattern]
        case StarredPattern():
            yield from _targets([pattern.capture])
        case MappingPattern():
            yield from _targets([pattern.rest])
            inner = [*pattern.values]
        case OrPattern() | SequencePattern():
            inner = [*pattern.patterns]
        case ClassPattern():
            inner = [*pattern.positionals, *pattern.keyword_values]
    for one in inner:
        yield from captured_names(one)


@dataclass(frozen=True)
class Changes:
    """The names of lists that are changed somewhere: to some, elements are added, of others any may be replaced."""

    grown: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()


def changes(nodes: Iterable[Statement]) -> Changes:
    """The lists that the statements change, in functions within them too."""
    grown, replaced = set[str](), set[str]()
    for node in walked(nodes):
        match node:
            case CallExpr(callee=MemberExpr(name=change, expr=NameExpr(name=name))) if change in _CHANGES:
                grown.add(name)
            case _:
                replaced.update(_changed(node))
    return Changes(frozenset(grown), frozenset(replaced))


def _changed(node: Node) -> Iterator[str]:
    match node:
        case AssignmentStmt():
            yield from _of_parts(node.lvalues)
        case OperatorAssignmentStmt():
            yield from _of_parts([node.lvalue])
            yield from _targets([node.lvalue])
        case DelStmt():
            yield from _of_parts([node.expr])


def _of_parts(targets: Iterable[Expression]) -> Iterator[str]:
    """``x`` for ``x[0]``."""
    for target in targets:
        match target:
            case IndexExpr(base=NameExpr(name=name)):
                yield name
            case TupleExpr() | ListExpr():
                yield from _of_parts(target.items)
