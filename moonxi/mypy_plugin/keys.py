"""One key for the weights of two layers: both start with the same random numbers, and nothing at run time says so.

Looked at is one call that makes a model, with what stands in it and the names in it that are bound once before it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mypy.checker import TypeChecker
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    Expression,
    FuncDef,
    GeneratorExpr,
    IndexExpr,
    IntExpr,
    NameExpr,
    Node,
    RefExpr,
    Statement,
    TypeInfo,
)

from moonxi.mypy_plugin.messages import TENSOR_KEY
from moonxi.mypy_plugin.module_map import is_module
from moonxi.mypy_plugin.shapes.bindings import bound_names
from moonxi.mypy_plugin.shapes.functions import bound_once
from moonxi.mypy_plugin.shapes.run import name_of
from moonxi.mypy_plugin.shapes.walk import walked

_KEY = "key"


def check_keys(checker: TypeChecker, function: FuncDef | None, body: Sequence[Statement]) -> None:
    """Report the second layer of a model that gets a key which another of its layers has got."""
    if not checker.msg.errors.is_error_code_enabled(TENSOR_KEY):
        return
    given = [one.variable.name for one in function.arguments] if function is not None else []
    once = set(bound_once(body, given))
    changing = set(bound_names(body)) - once
    nodes = list(walked(body))
    within = {id(one) for inner in nodes if isinstance(inner, FuncDef) for one in walked([inner])}
    values = {name: value for name, value in _bound(nodes) if name in once}
    for call in nodes:
        if isinstance(call, CallExpr) and id(call) not in within and _makes_model(call, function):
            _check(checker, call, values, changing)


def _check(checker: TypeChecker, model: CallExpr, values: Mapping[str, Expression], changing: set[str]) -> None:
    seen: dict[str, CallExpr] = {}
    for argument in model.args:
        value = values.get(argument.name, argument) if isinstance(argument, NameExpr) else argument
        for draw, key, many in _draws(value):
            if _root(key) in changing or seen.get(key) is draw:
                continue
            if many or key in seen:
                layers = "many layers" if many else "two layers"
                checker.fail(
                    f'"{key}" is the key of {layers} of one model, which start with the same random numbers; '
                    "split the key, or make one layer and use it again if it is meant",
                    draw,
                    code=TENSOR_KEY,
                )
            seen[key] = draw


def _draws(value: Expression) -> list[tuple[CallExpr, str, bool]]:
    """The calls that get a key by name, with the key as text, and whether they are made for many elements with it."""
    nodes = list(walked([value]))
    many: set[tuple[int, str]] = set()
    for loop in nodes:
        if isinstance(loop, GeneratorExpr):
            bound = {one.name for one in walked(loop.indices) if isinstance(one, NameExpr)}
            inner = [one for one in walked([loop.left_expr]) if isinstance(one, CallExpr)]
            many |= {(id(one), key) for one in inner if (key := _key(one)) is not None and _root(key) not in bound}
    calls = ((one, _key(one)) for one in nodes if isinstance(one, CallExpr))
    found = [(one, key, (id(one), key) in many) for one, key in calls if key is not None]
    return sorted(found, key=lambda one: (one[0].line, one[0].column))


def _root(key: str) -> str:
    return key.partition("[")[0].partition(".")[0]


def _key(call: CallExpr) -> str | None:
    """``key`` or ``keys[2]`` of ``init(..., key=keys[2])`` as text."""
    for name, value in zip(call.arg_names, call.args, strict=True):
        if name == _KEY:
            if isinstance(value, IndexExpr) and isinstance(value.index, IntExpr):
                base = name_of(value.base)
                return None if base is None else f"{base}[{value.index.value}]"
            return name_of(value)
    return None


def _makes_model(call: CallExpr, function: FuncDef | None) -> bool:
    callee = call.callee.base if isinstance(call.callee, IndexExpr) else call.callee
    if isinstance(callee, RefExpr) and isinstance(callee.node, TypeInfo):
        return is_module(callee.node)
    own = function is not None and function.is_class and bool(function.info) and is_module(function.info)
    return own and isinstance(callee, NameExpr) and callee.name == "cls"


def _bound(nodes: Iterable[Node]) -> Iterator[tuple[str, Expression]]:
    for node in nodes:
        if isinstance(node, AssignmentStmt) and isinstance(node.lvalues[0], NameExpr):
            yield node.lvalues[0].name, node.rvalue
