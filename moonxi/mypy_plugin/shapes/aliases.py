"""Aliases of annotated shapes: ``type Batch = Float[T, "batch 784"]`` and ``Batch = Float[T, "batch 784"]``.

mypy drops what stands beside the type in ``Annotated`` before it analyses an alias, so the text is taken from the
source, and put on the type for which the alias stands."""

from mypy.nodes import (
    AssignmentStmt,
    Expression,
    IndexExpr,
    MypyFile,
    NameExpr,
    RefExpr,
    StrExpr,
    TupleExpr,
    TypeAlias,
    TypeAliasStmt,
)
from mypy.types import Instance

from moonxi.mypy_plugin.shapes.attached import attach, attached, is_kind


def note_aliases(file: MypyFile, string: Instance) -> None:
    """Put the texts of a module's aliases on their types, as far as these are analysed already."""
    for node in file.defs:
        match node:
            case AssignmentStmt(lvalues=[NameExpr(name=name)]):
                text = _text(node.rvalue)
            case TypeAliasStmt():
                name, text = node.name.name, _text(node.value.expr())
            case _:
                continue
        symbol = file.names.get(name)
        alias = symbol.node if symbol is not None else None
        if text is not None and isinstance(alias, TypeAlias) and attached(alias.target) is None:
            alias.target = attach(alias.target, text, string)


def _text(node: Expression | None) -> str | None:
    match node:
        case IndexExpr(base=RefExpr() as base, index=TupleExpr(items=[_, StrExpr(value=text)])):
            return text if is_kind(getattr(base, "name", "")) else None
    return None
