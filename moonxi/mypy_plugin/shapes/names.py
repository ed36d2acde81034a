"""What the names in annotations tell of each other: two of them are meant to be two sizes."""

import re
from collections.abc import Iterator

from mypy.nodes import TypeInfo, Var
from mypy.types import CallableType

from moonxi.dims import Dim, Size, unknowns
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.equations import named
from moonxi.mypy_plugin.shapes.objects import Object
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.texts import names, texts

_BRACES = re.compile(r"\{([^{}]+)\}")


def names_of_fields(info: TypeInfo) -> set[str]:
    """The names of sizes in the annotations of the fields of a class."""
    fields = (declared(info, name) for name, symbol in info.names.items() if isinstance(symbol.node, Var))
    return set(names(texts(fields)))


def first_names(typ: CallableType) -> set[str]:
    """The name of the first axis of all that goes into a function and comes out, as ``batch`` is.

    It is what a caller brings, and nothing that a layer has."""
    found = [set(names([text.split()[0]])) for text in texts([*typ.arg_types, typ.ret_type]) if text.split()]
    return set.intersection(*found) if found and attached(typ.ret_type) is not None else set()


def keep_names_apart(run: Run, typ: CallableType) -> None:
    """Tell the equations which names of a function, and of the objects that it gets, are not one size."""
    annotations = list(texts([*typ.arg_types, typ.ret_type]))
    receiver = run.maker.arguments.get("self")
    own = names_of_fields(receiver.info) if isinstance(receiver, Object) else set()
    brought = [named(name) for name in set(names(annotations)) - own]
    run.equations.keep_apart(brought, _computed(run, annotations))
    for value in list(run.maker.arguments.values()):
        if isinstance(value, Object) and value is not receiver:
            run.equations.keep_apart(value.maker.size(name) for name in names_of_fields(value.info))
    if isinstance(receiver, Object):
        run.equations.bring([named(name) for name in first_names(typ) - own], receiver.path)


def _computed(run: Run, annotations: list[str]) -> Iterator[Size]:
    """What stands in braces, where that is a size of its own: one of a layer, or an integer that is given."""
    for text in annotations:
        for formula in _BRACES.findall(text):
            try:
                value = eval(formula, {"__builtins__": {}, "len": len}, dict(run.maker.arguments))
            except Exception:  # any expression
                continue
            if isinstance(value, Dim) and unknowns(value) == {str(value)}:
                yield value
