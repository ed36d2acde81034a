"""Functions whose bodies are at hand: what their annotations leave open is found by running them on the arguments."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mypy.nodes import ARG_STAR, ARG_STAR2, Context, FuncDef, LambdaExpr, Statement
from mypy.types import CallableType

from moonxi.mypy_plugin.messages import TENSOR_SHAPE
from moonxi.mypy_plugin.shapes.arguments import Given
from moonxi.mypy_plugin.shapes.bindings import bound_names, changes
from moonxi.mypy_plugin.shapes.marker import is_empty
from moonxi.mypy_plugin.shapes.run import Run, Stop
from moonxi.mypy_plugin.shapes.texts import texts
from moonxi.mypy_plugin.shapes.values import UNKNOWN, Function, joined


def is_at_hand(run: Run, node: FuncDef) -> bool:
    """Whether the body of a function can be run: it is of this module, and nothing stands before or around it."""
    home = node.info.module_name if node.info else node.fullname.rpartition(".")[0]
    plain = not node.is_decorated or node.is_class or node.is_static
    return home in ("", run.around.module) and plain and has_body(node)


def has_body(node: FuncDef) -> bool:
    """Whether a call runs the body from its beginning to its end, and the body does something."""
    return not (node.is_generator or node.is_coroutine or node.abstract_status) and not is_empty(node.body.body)


def looked_into(
    run: Run, function: Function, arguments: Sequence[Given], written: Context, name: str, *, complete: bool
) -> object:
    """The result of a call, found by running the body; what is wrong in it for these arguments only is reported."""
    node = function.node
    values = dict(function.outside)
    child = run.child(node, values)
    if child is None:
        return UNKNOWN
    prepare(child, node)
    values.update(_parameters(child, function, arguments, complete=complete))
    known = run.equations.known()
    try:
        child.around.execute(child, node.body.body)
        result = _result(child)
    except Stop:
        result = UNKNOWN
    alone = run.around.alone(node) if isinstance(node, FuncDef) else set()
    annotated = isinstance(node.type, CallableType) and any(texts(node.type.arg_types))
    for place, (context, message, code) in child.errors.items():
        if place not in alone and not (annotated and code is not TENSOR_SHAPE):  # its names tell what it means
            run.equations.forget(known)
            run.report(f'"{name}" (line {context.line}): {message}', written, code)
            break
    return result


def prepare(run: Run, node: FuncDef | LambdaExpr) -> None:
    """Find out which names of the function stand for one value, and which lists are changed."""
    names = [argument.variable.name for argument in node.arguments]
    run.once = frozenset(bound_once(node.body.body, names))
    run.changes = changes(node.body.body)


def bound_once(statements: Iterable[Statement], names: Iterable[str] = ()) -> Iterator[str]:
    """The names that are bound in one place only, the given ones in a place more."""
    for name, count in Counter([*names, *bound_names(statements)]).items():
        if count == 1:
            yield name


def _parameters(child: Run, function: Function, arguments: Sequence[Given], *, complete: bool) -> Mapping[str, object]:
    node = function.node
    typ = node.type if isinstance(node.type, CallableType) else None
    found: dict[str, object] = {}
    for place, argument in enumerate(node.arguments):
        name, kind = argument.variable.name, node.arg_kinds[place]
        values = [one.value for one in arguments if one.place == place]
        if place == 0 and function.receiver is not None:
            value = function.receiver
        elif kind == ARG_STAR:
            value = tuple(values) if complete else UNKNOWN
        elif kind == ARG_STAR2:
            value = UNKNOWN
        elif values:
            value = values[0]
        elif argument.initializer is not None and complete:
            value = child.around.evaluate(child, argument.initializer)
        else:
            value = UNKNOWN
        if value is UNKNOWN and kind not in (ARG_STAR, ARG_STAR2) and typ is not None:
            value = child.maker.value(typ.arg_types[place], f"{name}{child.equations.fresh()}")
        found[name] = value
    child.maker.arguments.update(found)
    return found


def _result(child: Run) -> object:
    returns = child.returns or []
    result = returns[0] if returns else UNKNOWN
    for other in returns[1:]:
        result = joined(result, other)
    return result
