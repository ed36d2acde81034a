"""All the statements and expressions within some; mypy's own visitor is compiled, and cannot be derived from."""

from collections.abc import Iterable, Iterator

from mypy.nodes import AssignmentStmt, Expression, MemberExpr, NameExpr, Node, Statement
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


def _parts(value: object) -> Iterator[Node]:
    if isinstance(value, Expression | Statement | Pattern):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _parts(one)
