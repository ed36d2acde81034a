"""Methods in place of those of a base class: they take what those take, and give what those give."""

from mypy.nodes import FuncDef
from mypy.types import CallableType

from moonxi.mypy_plugin.shapes.arguments import parameter_names
from moonxi.mypy_plugin.shapes.attached import attached
from moonxi.mypy_plugin.shapes.calls import problem, returned
from moonxi.mypy_plugin.shapes.equations import Equations, named
from moonxi.mypy_plugin.shapes.objects import Maker, Object
from moonxi.mypy_plugin.shapes.run import Found, Run, Surroundings
from moonxi.mypy_plugin.shapes.texts import items


def errors_of_override(around: Surroundings, function: FuncDef) -> Found:
    """Where a method asks more of its arguments than the one that it stands for, or gives another result."""
    if not function.info or function.name.startswith("__"):
        return {}
    base = next((found for info in function.info.mro[1:] if (found := _own(info.names.get(function.name)))), None)
    typ = function.type
    if base is None or not isinstance(base.type, CallableType) or not isinstance(typ, CallableType):
        return {}
    equations = Equations()
    maker = Maker(named, equations.fresh)
    maker.arguments["self"] = Object(function.info, "self", equations.fresh)
    run = Run(around, maker, equations, None)
    inner = Maker(lambda name: equations.fresh(), equations.fresh, arguments=maker.arguments)
    owner = f'"{function.name}" of "{base.info.name}"'
    for place, (name, taken, asked) in enumerate(
        zip(parameter_names(base), base.type.arg_types, typ.arg_types, strict=False)
    ):
        text, wanted = attached(asked), attached(taken)
        if text is None or wanted is None or _has_several(wanted):
            continue
        narrower = problem(run, inner, text, maker.value(taken, name))
        if narrower is not None:
            context = function.arguments[place] if place < len(function.arguments) else function
            run.report(f"{owner} takes {narrower}", context)
    if not run.errors and not _has_several(attached(typ.ret_type) or ""):
        with_names = Run(around, maker, equations, None)
        returned(with_names, inner.value(typ.ret_type, "result"), base.type.ret_type, function)
        run.errors |= {
            place: (context, f"{owner} gives another result: {message}", code)
            for place, (context, message, code) in with_names.errors.items()
        }
    return run.errors


def _own(symbol: object) -> FuncDef | None:
    node = getattr(symbol, "node", None)
    node = getattr(node, "func", node)
    return node if isinstance(node, FuncDef) else None


def _has_several(text: str) -> bool:
    return any(item.several for item in items(text))
