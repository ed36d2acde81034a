"""Expressions, run on shapes alone."""

import operator
from collections.abc import Callable, Mapping

from mypy.nodes import (
    AssertTypeExpr,
    AssignmentExpr,
    CallExpr,
    CastExpr,
    ComparisonExpr,
    ConditionalExpr,
    Context,
    EllipsisExpr,
    Expression,
    FloatExpr,
    FuncDef,
    GeneratorExpr,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    SliceExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)

from moonxi.dims import Dim, symbols
from moonxi.mypy_plugin.messages import TENSOR_BROADCAST
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.call_expressions import call_expression
from moonxi.mypy_plugin.shapes.classes import check_rows, check_weights
from moonxi.mypy_plugin.shapes.comprehensions import comprehended
from moonxi.mypy_plugin.shapes.equations import is_argument
from moonxi.mypy_plugin.shapes.functions import has_body, is_at_hand
from moonxi.mypy_plugin.shapes.objects import Object, method
from moonxi.mypy_plugin.shapes.operations import called, operated
from moonxi.mypy_plugin.shapes.reporting import follow_part, report_meeting, reported
from moonxi.mypy_plugin.shapes.run import Run, Stop
from moonxi.mypy_plugin.shapes.values import (
    SCORES,
    TENSOR,
    UNKNOWN,
    Each,
    Function,
    has_symbols,
    is_known,
    joined,
    shape_of,
)
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
_OPERATIONS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power"}
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
        case TupleExpr() | ListExpr():
            return _tuple(run, node)
        case GeneratorExpr():
            return comprehended(run, node)
        case ListComprehension():
            return comprehended(run, node.generator)
        case LambdaExpr():
            return Function(node, None, {name: value for name, value in run.values.items() if name in run.once})
        case CastExpr() | AssertTypeExpr():
            return evaluated(run, node.expr)
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
            return call_expression(run, node)
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


def _is_of_shapes(value: object) -> bool:
    """Whether a number depends on sizes. Of one integer that is an argument nothing is known that could change."""
    return has_symbols(value) and not (isinstance(value, Dim) and is_argument(value))


def _asks_for_sizes(run: Run, node: Expression) -> bool:
    """Whether a condition has to do with shapes; whether there is a tensor at all has not."""
    match node:
        case ComparisonExpr(operators=["is" | "is not"]):
            return False
        case ComparisonExpr():
            with run.quiet():
                values = [evaluated(run, one) for one in node.operands]
            two = sum(map(has_symbols, values)) > 1
            return two or any(_asks_for_sizes(run, one) for one in node.operands)
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
            return _is_of_shapes(value) or shape_of(value) is not None or value is TENSOR
    return False


def _name(run: Run, node: NameExpr) -> object:
    if node.fullname in _CONSTANTS:
        return _CONSTANTS[node.fullname]
    if node.name in run.values and not isinstance(node.node, TypeInfo):
        return run.values[node.name]
    if isinstance(node.node, Var) and node.node.is_final and isinstance(node.node.final_value, int):
        return node.node.final_value
    if isinstance(node.node, FuncDef) and not node.node.info and has_body(node.node) and is_at_hand(run, node.node):
        return Function(node.node)
    if isinstance(node.node, TypeInfo):
        return node.node
    return run.around.outside.get(node.fullname, UNKNOWN)


def _tuple(run: Run, node: TupleExpr | ListExpr) -> object:
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
    if isinstance(base, SCORES) and node.name == "value":
        return base.value
    if not isinstance(base, Object):
        return UNKNOWN
    value = base.attribute(node.name)
    if value is UNKNOWN:
        function = method(base.info, node.name)
        if function is not None and is_at_hand(run, function):
            return Function(function, base.info if function.is_class else None if function.is_static else base)
    run.annotate(value, attached(declared(base.info, node.name)) if shape_of(value) is not None else None)
    return value


def _index(run: Run, node: IndexExpr) -> object:
    base, index = evaluated(run, node.base), evaluated(run, node.index)
    if isinstance(base, Each) and isinstance(index, int | slice):
        return base.item() if isinstance(index, int) else base
    if isinstance(base, tuple) and isinstance(index, int | slice):
        try:
            return base[index]
        except (IndexError, TypeError):
            _report_missing_axis(run, node, base, index)
            return UNKNOWN
    if isinstance(base, ShapeTensor | Labels | Mask) and is_known(index) and not _may_count_from_the_end(run, index):
        part = reported(run, node, lambda: called("__getitem__", base, [index], {}, run.equations), (node.base, base))
        follow_part(run, base, part)
        check_rows(run, node, base, index)
        return part
    return UNKNOWN


def _may_count_from_the_end(run: Run, index: object) -> bool:
    """Whether an integer that the function is given decides from where an index counts: it may be less than 0."""
    if isinstance(index, tuple):
        return any(_may_count_from_the_end(run, one) for one in index)
    if isinstance(index, slice):
        return _may_count_from_the_end(run, (index.start, index.stop, index.step))
    return isinstance(index, Dim) and not symbols(index).isdisjoint(f"{{{name}}}" for name in run.maker.arguments)


def _report_missing_axis(run: Run, node: IndexExpr, shape: tuple[object, ...], index: object) -> None:
    """Report ``x.shape[2]`` of a tensor with two axes; of other tuples mypy knows the length."""
    if isinstance(node.base, MemberExpr) and node.base.name == "shape":
        axes = f"{len(shape)} {'axis' if len(shape) == 1 else 'axes'}"
        sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        run.report(f"shape: ({sizes}) has {axes}, and no size number {index}", node)


def _unary(run: Run, node: UnaryExpr) -> object:
    value = evaluated(run, node.expr)
    if node.op == "not":
        return not value if isinstance(value, bool) else UNKNOWN
    if node.op == "-" and isinstance(value, int | float | Dim | ShapeTensor):
        result = -value
        run.suspicions.pass_on(result, value, code=TENSOR_BROADCAST)
        return result
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
    result = reported(run, node, lambda: operated(symbol, left[1], right[1], run.equations), left, right)
    if symbol == "@":
        check_weights(run, node, left)
        run.meant(left[1], TENSOR_BROADCAST)
        run.meant(right[1], TENSOR_BROADCAST)
    else:
        report_meeting(run, node, _OPERATIONS.get(symbol, symbol), left, right, result)
    return result


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
    with run.branching():
        first = evaluated(run, node.if_expr)
        run.equations.forget(dict(before))
        second = evaluated(run, node.else_expr)
        run.equations.forget(before)
    return joined(first, second)
