"""Numbers that tensors are scaled by."""

from typing import Final

from mypy.checker import TypeChecker
from mypy.plugin import MethodContext
from mypy.types import AnyType, Instance, Type, get_proper_type

from moonxi.mypy_plugin.shapes.marker import imports_moonxi

_POWERS: Final = ("builtins.float.__pow__", "builtins.float.__rpow__")
_REAL: Final = ("builtins.int", "builtins.float")


def power(ctx: MethodContext, fullname: str, result: Type) -> Type | None:
    """``float`` for ``d ** -0.5``, in files that import moonxi.

    To typeshed it is ``Any``, as it is a complex number for a negative ``d``: then a tensor that is scaled by it is
    ``Any`` too, and no class is checked from there on."""
    if fullname not in _POWERS or not isinstance(get_proper_type(result), AnyType) or not ctx.arg_types[0]:
        return None
    other = get_proper_type(ctx.arg_types[0][0])
    if not isinstance(other, Instance) or other.type.fullname not in _REAL:
        return None
    if not isinstance(ctx.api, TypeChecker) or not imports_moonxi(ctx.api.tree):
        return None
    return ctx.api.named_generic_type("builtins.float", [])
