"""Which types are traits of moonxi, and what a solution of a type variable may not be."""

from collections.abc import Iterable
from typing import TypeGuard

from mypy.nodes import TypeInfo
from mypy.typeops import get_all_type_vars
from mypy.types import (
    CallableType,
    Instance,
    NoneType,
    Parameters,
    TupleType,
    Type,
    TypeType,
    TypeVarLikeType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

_HOME = "moonxi.traits."
_DEEPEST = 8  # of type arguments; types nested deeper are recursive ones


def is_trait(info: TypeInfo) -> bool:
    """Whether the class is a Protocol of `moonxi.traits` without parameters, or a Protocol that inherits one."""
    return info.is_protocol and any(
        base.is_protocol and base.fullname.startswith(_HOME) and not base.type_vars for base in info.mro
    )


def bounded_by_trait(variable: TypeVarLikeType) -> TypeGuard[TypeVarType]:
    """Whether the type variable stands for one tensor class.

    A trait of somebody else's need not inherit one of moonxi's: any Protocol that speaks of ``Self`` may combine two
    objects of one class, and is no class of which two different ones are. Nor is a union of tensor classes."""
    if not isinstance(variable, TypeVarType):
        return False
    bound = get_proper_type(variable.upper_bound)
    if isinstance(bound, UnionType):
        return True
    if not isinstance(bound, Instance) or not bound.type.is_protocol:
        return False
    return is_trait(bound.type) or any(base.is_protocol and _speaks_of_self(base) for base in bound.type.mro)


def _speaks_of_self(protocol: TypeInfo) -> bool:
    """Whether a member names the class of the object itself: by ``Self``, or by a type variable for ``self``.

    (``TypeInfo.self_type`` does not tell: every class has one, as ``object`` speaks of ``Self``.)"""
    for symbol in protocol.names.values():
        for member in get_all_type_vars(symbol.type) if symbol.type is not None else ():
            if isinstance(member, TypeVarType) and (member.id.is_self() or _is_of_receiver(member, symbol.type)):
                return True
    return False


def _is_of_receiver(variable: TypeVarType, member: Type | None) -> bool:
    proper = get_proper_type(member)
    return isinstance(proper, CallableType) and bool(proper.arg_types) and proper.arg_types[0] == variable


def parts(typ: Type) -> Iterable[Type]:
    """The types of which a type is directly made."""
    proper = get_proper_type(typ)
    match proper:
        case Instance():
            return proper.args
        case TupleType() | UnionType():
            return proper.items
        case CallableType():
            return (*proper.arg_types, proper.ret_type)
        case Parameters():
            return proper.arg_types
        case TypeType():
            return (proper.item,)
    return ()


def first_trait(types: Iterable[Type], depth: int = 0) -> str | None:
    """The name of a trait that occurs in the types as a type (and not as the bound of a variable)."""
    for typ in types:
        proper = get_proper_type(typ)
        if isinstance(proper, Instance) and is_trait(proper.type):
            return proper.type.name
        found = first_trait(parts(proper), depth + 1) if depth < _DEEPEST else None
        if found is not None:
            return found
    return None


def names_trait(typ: Type) -> bool:
    """Whether a trait occurs in the type as a type."""
    return first_trait([typ]) is not None


def alternatives(typ: Type) -> list[Type]:
    """The members of a union without None; of another type, itself."""
    proper = get_proper_type(typ)
    if isinstance(proper, UnionType):
        return [one for item in proper.items for one in alternatives(item)]
    return [] if isinstance(proper, NoneType) else [proper]


def undecided(typ: Type, depth: int = 0) -> bool:
    """Whether the type leaves open which tensor class it is: it names a trait, or is a union."""
    proper = get_proper_type(typ)
    if isinstance(proper, Instance) and is_trait(proper.type):
        return True
    if isinstance(proper, UnionType) and len(alternatives(proper)) > 1:
        return True
    return depth < _DEEPEST and any(undecided(part, depth + 1) for part in parts(proper))


def is_object(typ: Type) -> bool:
    """Whether mypy could say nothing better than ``object``."""
    proper = get_proper_type(typ)
    return isinstance(proper, Instance) and proper.type.fullname == "builtins.object"
