"""The check of one function: run on shapes, and what is wrong in every run reported."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from mypy.checker import TypeChecker
from mypy.nodes import ARG_STAR, ARG_STAR2, Context, FuncDef, SymbolTableNode, Var
from mypy.types import CallableType, Type

from moonxi.dims import Size, unknown
from moonxi.errors import ShapeError
from moonxi.mypy_plugin.messages import TENSOR_SHAPE
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.equations import Equations, named
from moonxi.mypy_plugin.shapes.objects import Maker, Object, is_frozen
from moonxi.mypy_plugin.shapes.run import Run, Stop
from moonxi.mypy_plugin.shapes.statements import run_block
from moonxi.mypy_plugin.shapes.values import UNKNOWN
from moonxi.shapes.specification import Item, read

_RANKS = (1, 2)
"""How many axes ``*batch`` stands for, one run each: what is wrong in all of them is wrong."""


def check_function(checker: TypeChecker, function: FuncDef) -> None:
    """Report where shapes in the body of a function do not fit."""
    typ = function.type
    if not isinstance(typ, CallableType) or not checker.msg.errors.is_error_code_enabled(TENSOR_SHAPE):
        return
    starred = any(item.several for text in _texts(typ.arg_types) for item in _items(text))
    found = [_errors(function, typ, rank) for rank in (_RANKS if starred else _RANKS[:1])]
    for place, (context, message) in found[0].items():
        if all(place in other for other in found[1:]):
            checker.fail(message, context, code=TENSOR_SHAPE)


def _errors(function: FuncDef, typ: CallableType, rank: int) -> dict[tuple[int, int], tuple[Context, str]]:
    equations = Equations()
    maker = Maker(named, equations.fresh)
    for text in _texts(typ.arg_types):
        for item in _items(text):
            if item.several and item.text:
                sizes: tuple[Size, ...] = tuple(named(f"{item.text}{number}") for number in range(1, rank + 1))
                maker.names.several.setdefault(item.text, sizes)
    run = Run(maker, equations, _result(function, typ))
    _arguments(run, function, typ)
    with suppress(Stop):
        run_block(run, function.body.body)
    return run.errors


def _arguments(run: Run, function: FuncDef, typ: CallableType) -> None:
    """Values for the parameters; those of integers and objects first, as shapes may speak of them in braces."""
    parameters = list(zip(function.arguments, typ.arg_types, typ.arg_kinds, strict=True))
    for number, (argument, declared_type, kind) in enumerate(parameters):
        name = argument.variable.name
        if number == 0 and function.info and not function.is_static:
            run.values[name] = _receiver(run, function, typ)
        elif kind in (ARG_STAR, ARG_STAR2):
            run.values[name] = UNKNOWN
        elif attached(declared_type) is None:
            run.values[name] = run.maker.value(declared_type, name)
        run.maker.arguments[name] = run.values.get(name, UNKNOWN)
    for argument, declared_type, _ in parameters:
        name = argument.variable.name
        if name not in run.values:
            value = run.maker.arguments[name] = run.values[name] = run.maker.value(declared_type, name)
            run.annotate(value, attached(declared_type))


def _receiver(run: Run, function: FuncDef, typ: CallableType) -> object:
    """``self``. A name in the annotation of a field that the method speaks of too is the same size."""
    if function.is_class or not is_frozen(function.info):
        return UNKNOWN
    name = function.arguments[0].variable.name
    shared = set(_names(_texts([*typ.arg_types, typ.ret_type])))

    def size(one: str) -> Size:
        return named(one) if one in shared else unknown(f"{name}.{one}")

    fields = (declared(function.info, field) for field, symbol in function.info.names.items() if _is_field(symbol))
    run.equations.apart = frozenset(str(size(one)) for one in _names(_texts(fields)))
    return Object(function.info, name, run.equations.fresh, size)


def _is_field(symbol: SymbolTableNode) -> bool:
    return isinstance(symbol.node, Var)


def _result(function: FuncDef, typ: CallableType) -> Type | None:
    return None if function.is_generator or function.is_coroutine else typ.ret_type


def _texts(types: Iterable[Type | None]) -> Iterator[str]:
    return (text for text in map(attached, types) if text is not None)


def _items(text: str) -> Sequence[Item]:
    with suppress(ShapeError):
        return read(text)
    return ()


def _names(texts: Iterator[str]) -> Iterator[str]:
    """Words that are names of sizes."""
    return (item.text for text in texts for item in _items(text) if item.text.isidentifier())
