"""The text of a shape annotation, on the type that mypy makes of ``Float[T, "batch 784"]``.

To a checker jaxtyping's names are ``Annotated``, of which mypy forgets all but the type. The text is put into the
``extra_attrs`` of an instance, or behind the ``fullname`` of one occurrence of a type variable, of which only
that of the definition is looked up: subtyping and inference look at neither, and mypy's cache keeps both, so that a
changed text is a changed interface.
"""

from mypy.nodes import TypeInfo
from mypy.types import (
    ExtraAttrs,
    Instance,
    LiteralType,
    NoneType,
    RawExpressionType,
    Type,
    TypeAliasType,
    TypeVarType,
    UnboundType,
    UnionType,
    get_proper_type,
)

ANNOTATED = ("typing.Annotated", "typing_extensions.Annotated")
_KEY = "moonxi shape"
_MARK = " moonxi shape "
_KINDS = ("Float", "Int", "UInt", "BFloat", "Complex", "Bool", "Shaped", "Num", "Real", "Inexact")


def text_of(written: Type) -> str | None:
    """The text in a type as it is written, if it is one of jaxtyping's with a text."""
    if not isinstance(written, UnboundType) or len(written.args) != 2:
        return None
    if not is_kind(written.name.rpartition(".")[2]):
        return None
    text = written.args[1]
    if isinstance(text, RawExpressionType) and isinstance(text.literal_value, str):
        return text.literal_value
    return text.original_str_expr if isinstance(text, UnboundType) else None


def is_kind(name: str) -> bool:
    """Whether jaxtyping has a type of this name."""
    return name.startswith(_KINDS)


def attach(typ: Type, text: str, string: Instance) -> Type:
    """The type with a text; as it is if it can carry none. ``string`` is the type ``str``."""
    proper = get_proper_type(typ)
    if isinstance(proper, Instance):
        shaped = proper.copy_modified()
        shaped.extra_attrs = ExtraAttrs({_KEY: LiteralType(text, string)}, None, None)
        return shaped
    if isinstance(proper, TypeVarType):
        variable = proper.copy_modified()
        variable.fullname = f"{proper.fullname.partition(_MARK)[0]}{_MARK}{text}"
        return variable
    return typ


def attached(typ: Type | None) -> str | None:
    """The text on a declared type, seen through aliases and ``| None``."""
    match typ:
        case TypeAliasType() if typ.alias is not None:
            return attached(typ.alias.target)
        case UnionType():
            rest = [item for item in typ.items if not isinstance(get_proper_type(item), NoneType)]
            return attached(rest[0]) if len(rest) == 1 else None
        case TypeVarType():
            _, mark, text = typ.fullname.partition(_MARK)
            return text if mark else None
        case Instance() if typ.extra_attrs is not None:
            literal = get_proper_type(typ.extra_attrs.attrs.get(_KEY))
            if isinstance(literal, LiteralType) and isinstance(literal.value, str):
                return literal.value
    return None


def declared(info: TypeInfo, name: str) -> Type | None:
    """The type with which a field of a class is declared, by the class or one that it derives from."""
    symbol = info.get(name)
    node = symbol.node if symbol is not None else None
    return getattr(node, "type", None) if node is not None else None
