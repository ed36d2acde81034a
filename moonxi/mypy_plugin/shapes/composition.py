"""Layers that are put together: whether what one gives is what the next one takes, before any tensor is there."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from mypy.nodes import ARG_POS, ARG_STAR, ARG_STAR2, Expression, FuncDef
from mypy.types import CallableType, get_proper_type

from moonxi.dims import Size
from moonxi.mypy_plugin.shapes.arguments import Argument
from moonxi.mypy_plugin.shapes.attached import attached
from moonxi.mypy_plugin.shapes.calls import call
from moonxi.mypy_plugin.shapes.equations import argument, named
from moonxi.mypy_plugin.shapes.functions import is_at_hand, prepare
from moonxi.mypy_plugin.shapes.names import first_names, names_of_fields
from moonxi.mypy_plugin.shapes.objects import Maker, Object, is_tensor, method
from moonxi.mypy_plugin.shapes.run import Found, Run, Stop
from moonxi.mypy_plugin.shapes.texts import items, texts
from moonxi.mypy_plugin.shapes.values import TENSOR, UNKNOWN, shape_of
from moonxi.shape_tensor import ShapeTensor

SEQUENTIAL = "moonxi.nn.sequential.Sequential"
_FORWARD = "forward"
RANKS = (1, 2)
"""How many axes ``*batch`` stands for, one run each: what is wrong in all of them is wrong."""


def examined(run: Run, new: Object, written: Expression) -> None:
    """Report at the call that makes an object if its ``forward`` cannot work with the fields that it has got."""
    if new.info.fullname == SEQUENTIAL:
        _examined_layers(run, new, written)
        return
    function = method(new.info, _FORWARD)
    if function is None or not any(_tells_sizes(value) for value in new.fields.values()):
        return
    if not is_at_hand(run, function) or not isinstance(function.type, CallableType):
        return
    starred = any(item.several for text in texts(function.type.arg_types) for item in items(text))
    found: list[Found] = []
    only: list[str | None] = []
    for rank in RANKS if starred else RANKS[:1]:
        with run.tried():
            known = run.equations.known()
            found.append(_errors(run, new, function, function.type, rank))
            only.append(_single_value(run, known, function.type))
    alone = run.around.alone(function)
    name = new.info.name
    for place, (context, message, code) in found[0].items():
        if place not in alone and all(place in other for other in found[1:]):
            run.report(f'"{name}": its {_FORWARD} (line {context.line}) with these fields: {message}', written, code)
            return
    if not found[0] and None not in only:
        run.report(f'"{name}": its {_FORWARD} with these fields works for {only[0]}', written)


def forwarded(run: Run, model: Object, arguments: Sequence[Argument], written: Expression) -> object:
    """The result of ``Sequential.forward``: what comes out of the last of its layers."""
    layers = model.fields.get("layers", UNKNOWN)
    x = next((one.value for one in arguments if one.kind == ARG_POS), UNKNOWN)
    if not isinstance(layers, tuple):
        return TENSOR
    for number, layer in enumerate(layers, 1):
        x = _step(run, number, layer, x, written)
    return x


def _examined_layers(run: Run, model: Object, written: Expression) -> None:
    layers = model.fields.get("layers", UNKNOWN)
    if not isinstance(layers, tuple):
        return
    found: list[Found] = []
    for rank in RANKS:
        trial = _trial(run)
        x: object = UNKNOWN
        with run.tried():
            for number, layer in enumerate(layers, 1):
                if shape_of(x) is None:
                    x = _input(run, layer, rank)
                x = _step(trial, number, layer, x, written)
        found.append(trial.errors)
    if all(found):
        context, message, code = next(iter(found[0].values()))
        run.report(f'"Sequential": {message}', context, code)


def _step(run: Run, number: int, layer: object, x: object, written: Expression) -> object:
    """What one layer makes of its input."""
    trial = _trial(run)
    arguments = [Argument(ARG_POS, None, x, written), Argument(ARG_POS, None, UNKNOWN, written)]
    result: object = UNKNOWN
    name = ""
    if isinstance(layer, Object):
        name = layer.info.name
        function = method(layer.info, _FORWARD)
        if layer.info.fullname == SEQUENTIAL:
            result = forwarded(trial, layer, arguments, written)
        elif function is not None:
            result = call(trial, function, layer, arguments, written)
    for _, message, code in trial.errors.values():
        run.report(f"layer {number} ({name}): {message}", written, code)
        return UNKNOWN
    return result


def _input(run: Run, layer: object, rank: int) -> object:
    """A tensor such as a layer takes."""
    if not isinstance(layer, Object):
        return UNKNOWN
    if layer.info.fullname == SEQUENTIAL:
        layers = layer.fields.get("layers", UNKNOWN)
        first = layers[0] if isinstance(layers, tuple) and layers else UNKNOWN
        return _input(run, first, rank)
    function = method(layer.info, _FORWARD)
    typ = function.type if function is not None else None
    if not isinstance(typ, CallableType) or len(typ.arg_types) < 2:
        return UNKNOWN
    text = attached(typ.arg_types[1])
    if text is None:
        return TENSOR if is_tensor(get_proper_type(typ.arg_types[1])) else UNKNOWN
    fresh = run.equations.fresh
    maker = Maker(lambda name: fresh(), fresh, arguments={"self": layer})
    for item in items(text):
        if item.several and item.text:
            maker.names.several.setdefault(item.text, tuple(fresh() for _ in range(rank)))
    return maker.value(typ.arg_types[1], "x")


def _errors(run: Run, new: Object, function: FuncDef, typ: CallableType, rank: int) -> Found:
    """The errors of ``forward`` with arguments whose sizes are as free as the annotations leave them."""
    child = run.child(function, {})
    if child is None:
        return {}
    prepare(child, function)
    child.returns, child.result = None, typ.ret_type
    for item in (item for text in texts(typ.arg_types) for item in items(text)):
        if item.several and item.text:
            several = tuple(run.equations.fresh() for _ in range(rank))
            child.maker.names.several.setdefault(item.text, several)
    own = names_of_fields(new.info)
    brought = first_names(typ) - own
    child.maker.size = lambda name: named(name) if name in brought else run.equations.fresh(name)
    values: dict[str, object] = {}
    child.maker.arguments["self"] = new
    for place, parameter in enumerate(function.arguments):
        name = parameter.variable.name
        starred = typ.arg_kinds[place] in (ARG_STAR, ARG_STAR2)
        path = f"{name}{run.equations.fresh()}"
        value = new if place == 0 else UNKNOWN if starred else child.maker.value(typ.arg_types[place], path)
        child.maker.arguments[name] = values[name] = value
        child.annotate(value, attached(typ.arg_types[place]) if place else None)
    run.equations.keep_apart(size for name, size in child.maker.names.sizes.items() if name not in own)
    child.values = values
    with suppress(Stop):
        run.around.execute(child, function.body.body)
    return child.errors


def _single_value(run: Run, known: Mapping[str, Size], typ: CallableType) -> str | None:
    """An argument of the function that would have to be one number: not its default, or, if it has none, a number which
    no annotation states."""
    written = {item.text for text in texts([*typ.arg_types, typ.ret_type]) for item in items(text)}
    for name, size in run.equations.known().items():
        integer = name.strip("{}")
        if name != str(argument(integer)) or name in known or not isinstance(size, int):
            continue
        if run.defaults.get(integer, size) != size:
            return f"{integer} = {size} only, and its default is {run.defaults[integer]}"
        if integer in run.free and name not in run.equations.excused and str(size) not in written:
            return f"{integer} = {size} only"
    return None


def _trial(run: Run) -> Run:
    """The run again, with errors of its own."""
    trial = Run(
        run.around,
        run.maker,
        run.equations,
        run.result,
        run.values,
        texts=run.texts,
        suspicions=run.suspicions,
        chain=run.chain,
    )
    trial.returns = []
    return trial


def _tells_sizes(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_tells_sizes, value))
    return isinstance(value, ShapeTensor) or (isinstance(value, Object) and bool(value.fields))
