"""Calls of functions, methods and classes with annotated shapes: the names within one call stand for one size each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from mypy.nodes import Context, FuncDef, TypeInfo, Var
from mypy.types import CallableType, Instance, ProperType, TupleType, Type, get_proper_type

from moonxi import shapes
from moonxi.dims import Dim, unknowns
from moonxi.mypy_plugin.messages import TENSOR_BROADCAST
from moonxi.mypy_plugin.shapes.arguments import Argument, Given, given, parameter_names
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.classes import axis_of_softmax
from moonxi.mypy_plugin.shapes.equations import is_nameless
from moonxi.mypy_plugin.shapes.functions import is_at_hand, looked_into
from moonxi.mypy_plugin.shapes.layers import fields_of_init, result_of_forward
from moonxi.mypy_plugin.shapes.objects import Maker, Object, is_frozen
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.values import TENSOR, UNKNOWN, Each, Function, is_known, shape_of
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes.specification import Names, fits, read

_BRACES = re.compile(r"\{([^{}]+)\}")


def call(
    run: Run,
    function: FuncDef,
    receiver: object,
    arguments: Sequence[Argument],
    written: Context,
    outside: Mapping[str, object] | None = None,
) -> object:
    """Check the arguments of a call, and give its result."""
    bound = receiver is not None and not function.is_static
    found, complete = given(function, int(bound), arguments)
    name = f"{receiver.info.name}.{function.name}" if isinstance(receiver, Object) else function.name
    maker = _maker(run, function, found, receiver)
    wrong = [one for one in found if _is_wrong(run, maker, one, name)]
    typ = function.type if isinstance(function.type, CallableType) else None
    result = _result(run, maker, typ.ret_type, f"{name}()") if typ is not None else UNKNOWN
    axis = axis_of_softmax(function) if is_at_hand(run, function) and shape_of(result) is not None else None
    if axis is not None:
        run.note_normalised(result, axis)
    if wrong:
        return result
    if isinstance(receiver, Object):
        ruled = result_of_forward(function.fullname, receiver, found[0].value if found else UNKNOWN, run.equations)
        if ruled is not UNKNOWN:
            return ruled
    if is_at_hand(run, function) and (_is_open(result) or (isinstance(receiver, Object) and receiver.exact)):
        body = Function(function, receiver if bound else None, outside or {})
        seen = looked_into(run, body, found, written, name, complete=complete)
        _check_result(run, maker, function, seen, written, name)
        return _closer(run, result, seen) if _is_open(result) else result
    return result


def _closer(run: Run, annotated: object, seen: object) -> object:
    """What the body of a function tells of its result; of a size unknown to it, what the annotation does."""
    if isinstance(annotated, tuple) and isinstance(seen, tuple) and len(annotated) == len(seen):
        return tuple(_closer(run, one, other) for one, other in zip(annotated, seen, strict=True))
    if not isinstance(annotated, ShapeTensor) or not isinstance(seen, ShapeTensor):
        return annotated if seen is UNKNOWN else seen
    stated, found = run.equations.shape(annotated.shape), run.equations.shape(seen.shape)
    if len(stated) != len(found):
        return seen
    shape = (one if is_nameless(other) else other for one, other in zip(stated, found, strict=True))
    return ShapeTensor(tuple(shape), seen.dtype)


def _check_result(run: Run, maker: Maker, function: FuncDef, seen: object, written: Context, name: str) -> None:
    """Check what a function gives for these arguments against its annotation."""
    text = attached(function.type.ret_type) if isinstance(function.type, CallableType) else None
    if text is not None and not run.around.alone(function):
        found = problem(run, maker, text, seen)
        if found is not None:
            run.report(f'result of "{name}": {found}', written)


def made(run: Run, info: TypeInfo, arguments: Sequence[Argument], written: Context) -> object:
    """Check the arguments of a class whose fields are annotated, and give the new object."""
    init = info.get("__init__")
    function = init.node if init is not None and isinstance(init.node, FuncDef) else None
    if not is_frozen(info) or function is None:
        return UNKNOWN
    found, complete = given(function, 1, arguments)
    new = Object(info, info.name, run.equations.fresh)
    new.maker.arguments["self"] = new
    names = parameter_names(function)
    wrong = False
    for one in found:
        name = names[one.place] or one.name
        if _is_field(info, name):
            wrong |= _is_wrong(
                run, new.maker, Given(one.place, name, declared(info, name), one.value, one.expression), info.name
            )
            several = function.arg_kinds[one.place].is_star()
            value = tuple(other.value for other in found if other.place == one.place) if several else one.value
            if value is not UNKNOWN and value is not TENSOR and (complete or not several):
                new.fields[name] = value
    new.exact = complete and not wrong
    return new


def initialised(run: Run, info: TypeInfo, function: FuncDef, arguments: Sequence[Argument]) -> object:
    """The layer that a class method such as ``Linear.init`` makes; None if it is no such method."""
    shapes_of_fields = fields_of_init(function.fullname)
    if shapes_of_fields is None:
        return None
    new = Object(info, info.name, run.equations.fresh, exact=True)
    found, _ = given(function, 1, arguments)
    for name, value in shapes_of_fields({one.name: one.value for one in found}).items():
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
                run.equations.excuse(before, {int(item.text) for item in read(text) if item.text.isdecimal()})
                if _says_of_pairs(text):
                    run.meant(value, TENSOR_BROADCAST)
                return None
    except Exception:  # what stands in braces is any expression, and may depend on what is not known
        run.equations.forget(before)
        return None
    run.equations.forget(before)
    bound = Names({name: run.equations.size(size) for name, size in maker.names.sizes.items()}, maker.names.several)
    parts = [str(bound)] if str(bound) else []
    parts += [f"{formula} = {size}" for formula, size in _formulas(text, maker) if str(size) != formula]
    where = f" with {', '.join(parts)}" if parts else ""
    return f'{shapes.show(shape)}: annotated "{text.strip()}"{where}'


def _says_of_pairs(text: str) -> bool:
    """Whether an annotation has an axis twice, as ``"n n"``."""
    words = [item.text for item in read(text) if item.text]
    return len(set(words)) < len(words)


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


def _formulas(text: str, maker: Maker) -> Iterator[tuple[str, object]]:
    """What stands in braces, and the size that it is."""
    for formula in _BRACES.findall(text):
        with suppress(Exception):  # any expression
            value = eval(formula, {"__builtins__": {}, "len": len}, dict(maker.arguments))
            if isinstance(value, int | Dim):
                yield formula, value


def _is_wrong(run: Run, maker: Maker, one: Given, function: str) -> bool:
    """Whether an argument is not as its parameter is annotated; that is reported."""
    text = attached(one.typ)
    found = problem(run, maker, text, one.value) if text is not None else None
    if found is None:
        return False
    which = one.name if one.name.isdecimal() else f'"{one.name}"'
    run.report(f'argument {which} of "{function}": {found}{run.said((one.expression, one.value))}', one.expression)
    return True


def _maker(run: Run, function: FuncDef, found: Sequence[Given], receiver: object) -> Maker:
    fresh = run.equations.fresh
    arguments = {one.name: one.value for one in found}
    return Maker(lambda name: fresh(), fresh, arguments={"self": receiver, **arguments})


def _result(run: Run, maker: Maker, typ: Type, path: str) -> object:
    proper: ProperType = get_proper_type(typ)
    if isinstance(proper, TupleType) and proper.partial_fallback.type.fullname == "builtins.tuple":
        return tuple(_result(run, maker, item, path) for item in proper.items)
    if isinstance(proper, Instance) and (proper.type.fullname == "builtins.int" or is_frozen(proper.type)):
        return UNKNOWN  # not the same in two calls
    value = maker.value(typ, path)
    return UNKNOWN if isinstance(value, Each) else value


def _is_open(result: object) -> bool:
    """Whether the body of a function may tell more of its result than the annotation."""
    if isinstance(result, tuple):
        return any(map(_is_open, result))
    shape = shape_of(result)
    return not is_known(result) if shape is None else any(map(unknowns, shape))


def _is_field(info: TypeInfo, name: str) -> bool:
    symbol = info.get(name)
    return symbol is not None and isinstance(symbol.node, Var)
