"""Calls of functions, methods and classes with annotated shapes: the names within one call stand for one size each."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from mypy.nodes import ARG_NAMED, ARG_OPT, ARG_POS, CallExpr, Context, Expression, FuncDef, TypeInfo, Var
from mypy.types import CallableType, Instance, ProperType, TupleType, Type, get_proper_type

from moonxi import shapes
from moonxi.dims import Dim
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.layers import fields_of_init
from moonxi.mypy_plugin.shapes.objects import Maker, Object, is_frozen
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import UNKNOWN, is_known, shape_of
from moonxi.shapes.specification import Names, fits

_BRACES = re.compile(r"\{([^{}]+)\}")

type Given = tuple[str, Type | None, object, Expression]
"""An argument: the name of its parameter, or the number where only the place counts, the type with which that is
declared, the value, and how it is written."""


def call(run: Run, function: FuncDef, receiver: object, written: CallExpr, values: Sequence[object]) -> object:
    """Check the arguments of a call, and give its result."""
    typ = function.type
    if not isinstance(typ, CallableType):
        return UNKNOWN
    bound = receiver is not None and not function.is_static
    given = list(_given(typ, int(bound), written, values))
    name = f"{receiver.info.name}.{function.name}" if isinstance(receiver, Object) else function.name
    maker = _maker(run, given, receiver)
    for one in given:
        _check(run, maker, one, name)
    return _result(run, maker, typ.ret_type, f"{name}()")


def made(run: Run, info: TypeInfo, written: CallExpr, values: Sequence[object]) -> object:
    """Check the arguments of a class whose fields are annotated, and give the new object."""
    init = info.get("__init__")
    typ = init.node.type if init is not None and isinstance(init.node, FuncDef) else None
    if not is_frozen(info) or not isinstance(typ, CallableType):
        return UNKNOWN
    new = Object(info, info.name, run.equations.fresh)
    given = [
        (name, declared(info, name), value, expression)
        for name, _, value, expression in _given(typ, 1, written, values)
        if _is_field(info, name)
    ]
    new.maker.arguments["self"] = new
    for one in given:
        _check(run, new.maker, one, info.name)
    new.fields.update({name: value for name, _, value, _ in given if is_known(value)})
    return new


def initialised(run: Run, info: TypeInfo, function: FuncDef, written: CallExpr, values: Sequence[object]) -> object:
    """The layer that a class method such as ``Linear.init`` makes; None if it is no such method."""
    shapes_of_fields = fields_of_init(function.fullname)
    if shapes_of_fields is None or not isinstance(function.type, CallableType):
        return None
    new = Object(info, info.name, run.equations.fresh)
    arguments = {name: value for name, _, value, _ in _given(function.type, 1, written, values)}
    for name, value in shapes_of_fields(arguments).items():
        new.fields[name] = value
        text, shape = attached(declared(info, name)), shape_of(value)
        if text is not None and shape is not None:
            fits(text, shape, new.maker.names, {"self": new})
    return new


def problem(run: Run, maker: Maker, text: str, value: object) -> str | None:
    """What is wrong with a value that is annotated so, if anything certainly is."""
    shape = shape_of(value)
    if shape is None:
        return None
    shape = run.equations.shape(shape)
    before, names = run.equations.known(), maker.names.copy()
    try:
        with run.equations.solving(equal=True):
            if fits(text, shape, names, maker.arguments):
                maker.names.become(names)
                return None
    except Exception:  # what stands in braces is any expression, and may depend on what is not known
        run.equations.forget(before)
        return None
    run.equations.forget(before)
    bound = Names({name: run.equations.size(size) for name, size in maker.names.sizes.items()}, maker.names.several)
    parts = [str(bound)] if str(bound) else []
    parts += [f"{formula} = {size}" for formula, size in _formulas(text, maker)]
    where = f" with {', '.join(parts)}" if parts else ""
    return f'{shapes.show(shape)}: annotated "{text.strip()}"{where}'


def _formulas(text: str, maker: Maker) -> Iterator[tuple[str, object]]:
    """What stands in braces, and the size that it is."""
    for formula in _BRACES.findall(text):
        with suppress(Exception):  # any expression
            value = eval(formula, {"__builtins__": {}, "len": len}, dict(maker.arguments))
            if isinstance(value, int | Dim):
                yield formula, value


def _check(run: Run, maker: Maker, given: Given, function: str) -> None:
    name, typ, value, expression = given
    text = attached(typ)
    found = problem(run, maker, text, value) if text is not None else None
    if found is not None:
        which = name if name.isdecimal() else f'"{name}"'
        run.report(f'argument {which} of "{function}": {found}{run.said((expression, value))}', expression)


def _maker(run: Run, given: Sequence[Given], receiver: object) -> Maker:
    fresh = run.equations.fresh
    arguments = {name: value for name, _, value, _ in given}
    return Maker(lambda name: fresh(), fresh, arguments={"self": receiver, **arguments})


def _result(run: Run, maker: Maker, typ: Type, path: str) -> object:
    proper: ProperType = get_proper_type(typ)
    if isinstance(proper, TupleType) and proper.partial_fallback.type.fullname == "builtins.tuple":
        return tuple(_result(run, maker, item, path) for item in proper.items)
    if isinstance(proper, Instance) and (proper.type.fullname == "builtins.int" or is_frozen(proper.type)):
        return UNKNOWN  # not the same in two calls
    return maker.value(typ, path)


def _given(typ: CallableType, skipped: int, written: CallExpr, values: Sequence[object]) -> Iterator[Given]:
    names, kinds, types = typ.arg_names[skipped:], typ.arg_kinds[skipped:], typ.arg_types[skipped:]
    position = 0
    for kind, name, value, expression in zip(written.arg_kinds, written.arg_names, values, written.args, strict=True):
        if kind == ARG_POS and position < len(types) and kinds[position] in (ARG_POS, ARG_OPT):
            yield names[position] or str(position + 1), types[position], value, expression
            position += 1
        elif kind == ARG_NAMED and name in names:
            yield name or "", types[names.index(name)], value, expression
        else:
            return  # which parameters the rest belongs to depends on values


def _is_field(info: TypeInfo, name: str) -> bool:
    symbol = info.get(name)
    return symbol is not None and isinstance(symbol.node, Var)


def returned(run: Run, value: object, typ: Type | None, place: Context) -> None:
    """Check what a function returns against its annotation."""
    proper = get_proper_type(typ)
    if isinstance(proper, TupleType) and isinstance(value, tuple) and len(value) == len(proper.items):
        for one, item in zip(value, proper.items, strict=True):
            returned(run, one, item, place)
        return
    text = attached(typ)
    if text is None:
        return
    maker = Maker(
        lambda name: run.equations.fresh(),
        run.equations.fresh,
        names=run.maker.names.copy(),
        arguments=run.maker.arguments,
    )
    found = problem(run, maker, text, value)
    if found is not None:
        run.report(f"return: {found}", place)
