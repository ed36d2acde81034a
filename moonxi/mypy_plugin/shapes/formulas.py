"""Properties of layers that are formulas of fields, as ``return self.weight.shape[0]``.

mypy's cache keeps no bodies, so the formulas are noted with the class when it is analysed."""

from mypy.nodes import (
    CallExpr,
    ClassDef,
    Decorator,
    Expression,
    ExpressionStmt,
    IndexExpr,
    IntExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    ReturnStmt,
    TypeInfo,
)

_KEY = "moonxi formulas"


def note_formulas(cls: ClassDef) -> None:
    """Note the formulas of the class."""
    found = {}
    for node in cls.defs.body:
        if isinstance(node, Decorator) and node.func.name not in found:
            statements = [one for one in node.func.body.body if not isinstance(one, ExpressionStmt)]
            is_property = any(isinstance(one, NameExpr) and one.name == "property" for one in node.original_decorators)
            if is_property and len(statements) == 1 and isinstance(statements[0], ReturnStmt):
                text = _text(statements[0].expr)
                if text is not None:
                    found[node.func.name] = text
    if found:
        cls.info.metadata[_KEY] = dict(found)


def formulas(info: TypeInfo) -> dict[str, str]:
    """The formulas of the properties of a class and of those that it derives from, by name."""
    found: dict[str, str] = {}
    for base in reversed(info.mro):
        for name in base.names:
            found.pop(name, None)
        noted = base.metadata.get(_KEY)
        if isinstance(noted, dict):
            found.update(noted)
    return found


def _text(node: Expression | None) -> str | None:
    """The expression as Python; None for what is no simple formula."""
    match node:
        case IntExpr():
            return str(node.value)
        case NameExpr(name="self"):
            return "self"
        case MemberExpr():
            return _around(node.expr, f"{{}}.{node.name}")
        case IndexExpr():
            index = _text(node.index)
            return None if index is None else _around(node.base, f"{{}}[{index}]")
        case CallExpr(callee=NameExpr(name="len"), args=[argument]):
            return _around(argument, "len({})")
        case OpExpr() if node.op in ("+", "-", "*", "//"):
            left, right = _text(node.left), _text(node.right)
            return None if left is None or right is None else f"({left} {node.op} {right})"
    return None


def _around(node: Expression, form: str) -> str | None:
    text = _text(node)
    return None if text is None else form.format(text)
