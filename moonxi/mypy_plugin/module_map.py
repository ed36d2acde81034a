"""The typed ``map`` of a `Module`, which the class itself need not write.

``class Net[T: Bound](Module[T])`` gets ``def map[U: Bound](self, f: Callable[[T], U], /) -> Net[U]``, unless it has a
``map`` already. At run time the base class does the work. A class that derives from such a model gets its own ``map``,
and may narrow the bound.
"""

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_POS, MDEF, Argument, FuncDef, SymbolTableNode, TypeInfo, TypeVarExpr, Var
from mypy.plugin import ClassDefContext
from mypy.plugins.common import add_method_to_class
from mypy.types import CallableType, Instance, TypeVarId, TypeVarType, get_proper_type
from mypy.typevars import fill_typevars

MODULE = "moonxi.nn.module.Module"
_METHOD = "map"
_VARIABLE = "_MapU"


def is_module(info: TypeInfo) -> bool:
    """Whether the class is `Module` or derives from it."""
    return any(base.fullname == MODULE for base in info.mro)


def add_map(ctx: ClassDefContext) -> None:
    """Give the class its ``map`` if its only type parameter is its tensor class."""
    info = ctx.cls.info
    existing = info.names.get(_METHOD)
    if existing is not None and not existing.plugin_generated:
        return
    if existing is not None and isinstance(existing.node, FuncDef) and existing.node not in ctx.cls.defs.body:
        del info.names[_METHOD]  # taken out of the body below, in an earlier pass of mypy's
    parameter = _tensor_parameter(info)
    if parameter is None:
        return
    bound, default, name = parameter.upper_bound, parameter.default, f"{info.fullname}.{_VARIABLE}"
    # The namespace makes the variable one of the method; mypy looks up the name when it analyses the method.
    variable = TypeVarType(_VARIABLE, name, TypeVarId(-1, namespace=f"{info.fullname}.{_METHOD}"), [], bound, default)
    info.names[_VARIABLE] = SymbolTableNode(
        MDEF, TypeVarExpr(_VARIABLE, name, [], bound, default), plugin_generated=True
    )
    function = CallableType([parameter], [ARG_POS], [None], variable, ctx.api.named_type("builtins.function"))
    argument = Argument(Var("f", function), function, None, ARG_POS, pos_only=True)
    method = add_method_to_class(ctx.api, ctx.cls, _METHOD, [argument], Instance(info, [variable]), tvar_def=variable)
    if any(_METHOD in base.names for base in info.mro[1:]):
        # A model may ask more of its tensors than the one that it derives from. mypy compares the two methods where the
        # class is written, and would reject one that nobody wrote.
        ctx.cls.defs.body.remove(method)


def _tensor_parameter(info: TypeInfo) -> TypeVarType | None:
    """The type parameter of the class, if it is the one that its base `Module` gets."""
    parameters = info.defn.type_vars
    module = next((base for base in info.mro if base.fullname == MODULE), None)
    if module is None or module is info or len(parameters) != 1 or not isinstance(parameters[0], TypeVarType):
        return None
    this = fill_typevars(info)
    if not isinstance(this, Instance):
        return None
    tensor = get_proper_type(map_instance_to_supertype(this, module).args[0])
    return parameters[0] if isinstance(tensor, TypeVarType) and tensor.id == parameters[0].id else None
