"""The check of one function: run on shapes, and what is wrong in every run reported."""

from collections.abc import Mapping
from contextlib import suppress

from mypy.nodes import ARG_STAR, ARG_STAR2, FuncDef, IntExpr
from mypy.types import CallableType, Instance, Type, get_proper_type

from moonxi.dims import Size
from moonxi.mypy_plugin.shapes.attached import attached
from moonxi.mypy_plugin.shapes.composition import RANKS
from moonxi.mypy_plugin.shapes.equations import Equations, argument, named, size_of
from moonxi.mypy_plugin.shapes.functions import prepare
from moonxi.mypy_plugin.shapes.names import keep_names_apart, names_of_fields
from moonxi.mypy_plugin.shapes.objects import Maker, Object, is_frozen
from moonxi.mypy_plugin.shapes.run import Found, Run, Stop, Surroundings
from moonxi.mypy_plugin.shapes.texts import items, names, texts
from moonxi.mypy_plugin.shapes.values import UNKNOWN


def errors_of(
    around: Surroundings, function: FuncDef, outer: Run | None = None, outside: Mapping[str, object] | None = None
) -> Found:
    """What is wrong in the body of a function, whatever it is given.

    Of one within another ``outside`` are the names around it; names of sizes that are not in the annotations of the
    other one are any sizes then, as it may be made for what is around it."""
    typ = function.type
    if not isinstance(typ, CallableType):
        return {}
    starred = any(item.several for text in texts(typ.arg_types) for item in items(text))
    found = [_errors(around, function, typ, rank, outer, outside or {}) for rank in (RANKS if starred else RANKS[:1])]
    return {place: error for place, error in found[0].items() if all(place in other for other in found[1:])}


def _errors(
    around: Surroundings,
    function: FuncDef,
    typ: CallableType,
    rank: int,
    outer: Run | None,
    outside: Mapping[str, object],
) -> Found:
    equations = Equations()

    def size(name: str) -> Size:
        return named(name) if outer is None or name in outer.maker.names.sizes else size_of(f"{name}'")

    maker = Maker(size, equations.fresh)
    for item in (item for text in texts(typ.arg_types) for item in items(text)):
        if item.several and item.text:
            several = tuple(size(f"{item.text}{number}") for number in range(1, rank + 1))
            if outer is not None:
                several = outer.maker.names.several.get(item.text, several)
            maker.names.several.setdefault(item.text, several)
    run = Run(around, maker, equations, _result(function, typ), values=dict(outside), chain=(function,))
    prepare(run, function)
    _arguments(run, function, typ)
    with suppress(Stop):
        around.execute(run, function.body.body)
    return run.errors


def _arguments(run: Run, function: FuncDef, typ: CallableType) -> None:
    """Values for the parameters; those of integers and objects first, as shapes may speak of them in braces."""
    parameters = list(zip(function.arguments, typ.arg_types, typ.arg_kinds, strict=True))
    for number, (parameter, declared_type, kind) in enumerate(parameters):
        name = parameter.variable.name
        run.values.pop(name, None)
        if number == 0 and function.info and not function.is_static:
            run.values[name] = _receiver(run, function, typ)
        elif kind in (ARG_STAR, ARG_STAR2):
            run.values[name] = UNKNOWN
        elif attached(declared_type) is None:
            run.values[name] = run.maker.value(declared_type, name)
        run.maker.arguments[name] = run.values.get(name, UNKNOWN)
    integers = [parameter.variable.name for parameter, declared_type, _ in parameters if _is_integer(declared_type)]
    run.equations.keep_apart(argument(name) for name in integers)
    defaults = {parameter.variable.name for parameter, _, kind in parameters if kind.is_optional()}
    run.free = frozenset(integers) - defaults
    run.defaults = {
        one.variable.name: one.initializer.value
        for one in function.arguments
        if one.variable.name in integers and isinstance(one.initializer, IntExpr)
    }
    for parameter, declared_type, _ in parameters:
        name = parameter.variable.name
        if name not in run.values:
            value = run.maker.arguments[name] = run.values[name] = run.maker.value(declared_type, name)
            run.annotate(value, attached(declared_type))
    keep_names_apart(run, typ)


def _is_integer(typ: Type) -> bool:
    proper = get_proper_type(typ)
    return isinstance(proper, Instance) and proper.type.fullname == "builtins.int"


def _receiver(run: Run, function: FuncDef, typ: CallableType) -> object:
    """``self``. A name in the annotation of a field that the method speaks of too is the same size."""
    if function.is_class:
        return function.info
    if not is_frozen(function.info):
        return UNKNOWN
    name = function.arguments[0].variable.name
    shared = set(names(texts([*typ.arg_types, typ.ret_type])))

    def size(one: str) -> Size:
        return named(one) if one in shared else size_of(f"{name}.{one}")

    run.equations.keep_apart(size(one) for one in names_of_fields(function.info))
    return Object(function.info, name, run.equations.fresh, size)


def _result(function: FuncDef, typ: CallableType) -> Type | None:
    return None if function.is_generator or function.is_coroutine else typ.ret_type
