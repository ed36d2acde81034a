"""Expressions, run on shapes alone."""

import operator
from collections.abc import Callable, Mapping
from math import prod

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    AssignmentExpr,
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    Context,
    Decorator,
    EllipsisExpr,
    Expression,
    FloatExpr,
    FuncDef,
    IndexExpr,
    IntExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    OverloadedFuncDef,
    RefExpr,
    SliceExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.types import Overloaded, get_proper_type

from moonxi.dims import Dim
from moonxi.errors import ShapeError
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.calls import call, initialised, made
from moonxi.mypy_plugin.shapes.objects import Object, is_tensor, method
from moonxi.mypy_plugin.shapes.operations import called, operated
from moonxi.mypy_plugin.shapes.run import Run, Stop
from moonxi.mypy_plugin.shapes.values import TENSOR, UNKNOWN, has_symbols, is_known, joined, shape_of
from moonxi.shape_tensor import ShapeTensor
from moonxi.traits import Labels, Mask

_COMPARISONS: Mapping[str, Callable[..., object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONSTANTS = {"builtins.True": True, "builtins.False": False, "builtins.None": None}


def evaluated(run: Run, node: Expression | None) -> object:
    """What is known of the value of an expression; errors in it are reported."""
    match node:
        case None:
            return None
        case IntExpr() | FloatExpr() | StrExpr():
            return node.value
        case EllipsisExpr():
            return ...
        case NameExpr():
            return _name(run, node)
        case TupleExpr():
            return _tuple(run, node)
        case MemberExpr():
            return _member(run, node)
        case IndexExpr():
            return _index(run, node)
        case SliceExpr():
            bounds = [evaluated(run, one) for one in (node.begin_index, node.end_index, node.stride)]
            return slice(*bounds) if all(map(is_known, bounds)) else UNKNOWN
        case UnaryExpr():
            return _unary(run, node)
        case OpExpr():
            return _operator(run, node)
        case ComparisonExpr():
            return _comparison(run, node)
        case ConditionalExpr():
            return _conditional(run, node)
        case AssignmentExpr():
            run.values[node.target.name] = UNKNOWN  # it may be in a place that is not reached
            return evaluated(run, node.value)
        case CallExpr():
            return _call(run, node)
    return UNKNOWN


def decided(run: Run, node: Expression) -> bool | None:
    """Whether a condition holds, None if it is not known. Raises `Stop` for a condition on sizes that are not."""
    if isinstance(node, UnaryExpr) and node.op == "not":
        inner = decided(run, node.expr)
        return None if inner is None else not inner
    if isinstance(node, OpExpr) and node.op in ("and", "or"):
        left = decided(run, node.left)
        if left is not None and left is (node.op == "or"):
            return left
        right = decided(run, node.right)
        return right if left is not None or right is (node.op == "or") else None
    value = evaluated(run, node)
    if isinstance(value, bool) or value is None:
        return bool(value)
    if _asks_for_sizes(run, node):
        raise Stop
    return None


def _asks_for_sizes(run: Run, node: Expression) -> bool:
    """Whether a condition has to do with shapes; whether there is a tensor at all has not."""
    match node:
        case ComparisonExpr(operators=["is" | "is not"]):
            return False
        case ComparisonExpr():
            return any(_asks_for_sizes(run, one) for one in node.operands)
        case OpExpr():
            return _asks_for_sizes(run, node.left) or _asks_for_sizes(run, node.right)
        case CallExpr(callee=NameExpr(name="isinstance")):
            return False
        case CallExpr():
            before = [node.callee.expr] if isinstance(node.callee, MemberExpr) else []
            return any(_asks_for_sizes(run, one) for one in (*before, *node.args))
        case MemberExpr(name="shape"):
            return True
        case MemberExpr() | IndexExpr() | NameExpr():
            with run.quiet():
                value = evaluated(run, node)
            return has_symbols(value) or shape_of(value) is not None or value is TENSOR
    return False


def _name(run: Run, node: NameExpr) -> object:
    if node.fullname in _CONSTANTS:
        return _CONSTANTS[node.fullname]
    if node.name in run.values:
        return run.values[node.name]
    if isinstance(node.node, Var) and node.node.is_final and isinstance(node.node.final_value, int):
        return node.node.final_value
    return UNKNOWN


def _tuple(run: Run, node: TupleExpr) -> object:
    items: list[object] = []
    for one in node.items:
        if isinstance(one, StarExpr):
            several = evaluated(run, one.expr)
            if not isinstance(several, tuple):
                return UNKNOWN
            items.extend(several)
        else:
            items.append(evaluated(run, one))
    return tuple(items)


def _member(run: Run, node: MemberExpr) -> object:
    base = evaluated(run, node.expr)
    if node.name == "shape":
        shape = shape_of(base)
        return UNKNOWN if shape is None else run.equations.shape(shape)
    if not isinstance(base, Object):
        return UNKNOWN
    value = base.attribute(node.name)
    run.annotate(value, attached(declared(base.info, node.name)) if shape_of(value) is not None else None)
    return value


def _index(run: Run, node: IndexExpr) -> object:
    base, index = evaluated(run, node.base), evaluated(run, node.index)
    if isinstance(base, tuple) and isinstance(index, int | slice):
        try:
            return base[index]
        except (IndexError, TypeError):
            return UNKNOWN  # mypy's to report
    if isinstance(base, ShapeTensor | Labels | Mask) and is_known(index):
        return _reported(run, node, lambda: called("__getitem__", base, [index], {}, run.equations), (node.base, base))
    return UNKNOWN


def _unary(run: Run, node: UnaryExpr) -> object:
    value = evaluated(run, node.expr)
    if node.op == "not":
        return not value if isinstance(value, bool) else UNKNOWN
    if node.op == "-" and isinstance(value, int | float | Dim | ShapeTensor):
        return -value
    return value if node.op == "+" else UNKNOWN


def _operator(run: Run, node: OpExpr) -> object:
    left = evaluated(run, node.left)
    if node.op in ("and", "or"):
        return UNKNOWN
    return binary(run, node, node.op, (node.left, left), (node.right, evaluated(run, node.right)))


def binary(
    run: Run, node: Context, symbol: str, left: tuple[Expression, object], right: tuple[Expression, object]
) -> object:
    """The result of an operator, reported at the node if the shapes do not fit."""
    return _reported(run, node, lambda: operated(symbol, left[1], right[1], run.equations), left, right)


def _reported(run: Run, node: Context, run_rule: Callable[[], object], *operands: tuple[Expression, object]) -> object:
    try:
        return run_rule()
    except ShapeError as error:
        run.report(f"{error}{run.said(*operands)}", node)
        return UNKNOWN


def _comparison(run: Run, node: ComparisonExpr) -> object:
    values = [evaluated(run, one) for one in node.operands]
    if len(values) != 2 or not all(map(is_known, values)):
        return UNKNOWN
    left, right = values
    symbol = node.operators[0]
    if symbol in ("is", "is not"):
        return symbol == "is" if left is None and right is None else UNKNOWN
    if isinstance(left, ShapeTensor) or isinstance(right, ShapeTensor):
        return binary(run, node, symbol, (node.operands[0], left), (node.operands[1], right))
    plain = all(isinstance(one, int | float | str | tuple) and not has_symbols(one) for one in values)
    if plain:
        compare = _COMPARISONS.get(symbol)
        try:
            return compare(left, right) if compare is not None else UNKNOWN
        except TypeError:
            return UNKNOWN
    return UNKNOWN


def _conditional(run: Run, node: ConditionalExpr) -> object:
    holds = decided(run, node.cond)
    if holds is not None:
        return evaluated(run, node.if_expr if holds else node.else_expr)
    before = run.equations.known()
    first = evaluated(run, node.if_expr)
    run.equations.forget(dict(before))
    second = evaluated(run, node.else_expr)
    run.equations.forget(before)
    return joined(first, second)


def _call(run: Run, node: CallExpr) -> object:
    callee = node.callee
    if isinstance(callee, IndexExpr):  # Linear[NpArray](...)
        callee = callee.base
    receiver = evaluated(run, callee.expr) if isinstance(callee, MemberExpr) else None
    values = [evaluated(run, one) for one in node.args]
    definition = _definition(callee)
    if isinstance(definition, FuncDef) and not definition.info:
        known = _builtin(definition, values)
        return known if known is not None else call(run, definition, None, node, values)
    if isinstance(definition, OverloadedFuncDef):
        return _overloaded(definition)
    if isinstance(definition, TypeInfo):
        known = _builtin(definition, values)
        return known if known is not None else made(run, definition, node, values)
    if not isinstance(callee, MemberExpr):
        return UNKNOWN
    if isinstance(receiver, Object):
        function = method(receiver.info, callee.name)
        return call(run, function, receiver, node, values) if function is not None else UNKNOWN
    owner = _definition(callee.expr.base if isinstance(callee.expr, IndexExpr) else callee.expr)
    if isinstance(owner, TypeInfo):
        function = method(owner, callee.name)
        if function is None or function.is_property or not (function.is_class or function.is_static):
            return UNKNOWN
        new = initialised(run, owner, function, node, values)
        return new if new is not None else call(run, function, owner, node, values)
    if any(kind not in (ARG_POS, ARG_NAMED) for kind in node.arg_kinds):
        return UNKNOWN
    positional = [one for one, kind in zip(values, node.arg_kinds, strict=True) if kind == ARG_POS]
    named = {name: one for one, name in zip(values, node.arg_names, strict=True) if name is not None}
    operands = [(callee.expr, receiver), *zip(node.args, values, strict=True)]
    return _reported(run, node, lambda: called(callee.name, receiver, positional, named, run.equations), *operands)


def _overloaded(function: OverloadedFuncDef) -> object:
    """A tensor where every variant gives one, as ``mx.numpy()`` does."""
    types = function.type.items if isinstance(function.type, Overloaded) else []
    return TENSOR if types and all(is_tensor(get_proper_type(one.ret_type)) for one in types) else UNKNOWN


def _definition(node: Expression) -> object:
    found = node.node if isinstance(node, RefExpr) else None
    return found.func if isinstance(found, Decorator) else found


def _builtin(definition: object, values: list[object]) -> object:
    """The result of a function of Python that shapes are computed with; None of another function."""
    name = getattr(definition, "fullname", "")
    if len(values) != 1 or not isinstance(values[0], tuple):
        return None
    if name == "builtins.len":
        return len(values[0])
    if name == "math.prod":
        return prod(values[0]) if all(isinstance(one, int | Dim) for one in values[0]) else UNKNOWN
    return values[0] if name == "builtins.tuple" else None
