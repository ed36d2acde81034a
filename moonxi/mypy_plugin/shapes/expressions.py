"""Expressions, run on shapes alone."""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    AssertTypeExpr,
    AssignmentExpr,
    CallExpr,
    CastExpr,
    ComparisonExpr,
    ConditionalExpr,
    Context,
    Decorator,
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
from moonxi.mypy_plugin.messages import TENSOR_BROADCAST, TENSOR_RESHAPE
from moonxi.mypy_plugin.shapes.arguments import Argument, expanded, given
from moonxi.mypy_plugin.shapes.attached import attached, declared
from moonxi.mypy_plugin.shapes.builtin_functions import builtin
from moonxi.mypy_plugin.shapes.calls import call, initialised, made
from moonxi.mypy_plugin.shapes.classes import check_last_axis, check_softmax
from moonxi.mypy_plugin.shapes.composition import SEQUENTIAL, examined, forwarded
from moonxi.mypy_plugin.shapes.comprehensions import comprehended
from moonxi.mypy_plugin.shapes.equations import is_argument
from moonxi.mypy_plugin.shapes.functions import has_body, is_at_hand, looked_into
from moonxi.mypy_plugin.shapes.library import is_library, library_call
from moonxi.mypy_plugin.shapes.meaning import meets_itself, mixes_up
from moonxi.mypy_plugin.shapes.objects import Object, is_tensor, method
from moonxi.mypy_plugin.shapes.operations import called, operated
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
    scores_named,
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
_BROADCAST = ("maximum", "minimum", "equal", "where")
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
    result = _reported(run, node, lambda: operated(symbol, left[1], right[1], run.equations), left, right)
    if symbol != "@":
        _report_meeting(run, node, _OPERATIONS.get(symbol, symbol), left, right, result)
    return result


def _report_meeting(
    run: Run,
    node: Context,
    operation: str,
    left: tuple[Expression, object],
    right: tuple[Expression, object],
    result: object,
) -> None:
    """Report a broadcast of an axis against itself."""
    before, after, whole = (shape_of(one) for one in (left[1], right[1], result))
    if before is not None and after is not None and whole is not None:
        found = meets_itself(*map(run.equations.shape, (before, after, whole)))
        if found is not None:
            run.report(f"{operation}: {found}{run.said(left, right)}", node, TENSOR_BROADCAST)


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
    with run.branching():
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
    written = zip(node.arg_kinds, node.arg_names, node.args, strict=True)
    arguments = [Argument(kind, name, evaluated(run, one), one) for kind, name, one in written]
    definition = _definition(callee)
    if not isinstance(callee, MemberExpr):
        own = evaluated(run, callee) if not isinstance(definition, FuncDef | OverloadedFuncDef) else None
        definition = own if isinstance(own, TypeInfo) else definition
        if isinstance(own, Function):
            return _by_value(run, own, arguments, node)
    if isinstance(definition, FuncDef | TypeInfo) and not (isinstance(definition, FuncDef) and definition.info):
        known = _builtin(definition, arguments)
        if known is not None:
            return known
        if isinstance(definition, FuncDef):
            return _function_call(run, definition, arguments, node)
        return _instance(run, definition, arguments, node)
    if isinstance(definition, OverloadedFuncDef):
        return _overloaded(definition, arguments)
    if not isinstance(callee, MemberExpr):
        return UNKNOWN
    if isinstance(receiver, Object):
        return _method_call(run, receiver, callee.name, arguments, node)
    owner = receiver if isinstance(receiver, TypeInfo) else _class(callee.expr)
    if owner is not None:
        function = method(owner, callee.name)
        if function is None or function.is_property or not (function.is_class or function.is_static):
            return UNKNOWN
        new = initialised(run, owner, function, arguments)
        return new if new is not None else call(run, function, owner, arguments, node)
    found = _by_kind(arguments)
    if found is None:
        return UNKNOWN
    positional, named, operands = found
    rule = partial(called, callee.name, receiver, positional, named, run.equations)
    result = _reported(run, node, rule, (callee.expr, receiver), *operands)
    if callee.name in _BROADCAST and operands:
        _report_meeting(run, node, callee.name, (callee.expr, receiver), operands[-1], result)
    before, after = shape_of(receiver), shape_of(result)
    if callee.name == "reshape" and before is not None and after is not None:
        mixed = mixes_up(run.equations.shape(before), run.equations.shape(after))
        if mixed is not None:
            run.report(f"{mixed}{run.said((callee.expr, receiver))}", node, TENSOR_RESHAPE)
    if positional:
        check_softmax(run, node, callee.name, (callee.expr, receiver), positional[0])
    return result


def _function_call(run: Run, function: FuncDef, arguments: Sequence[Argument], node: CallExpr) -> object:
    if is_library(function.fullname):
        found = _by_kind(arguments)
        if found is None:
            return UNKNOWN
        positional, named, operands = found
        rule = partial(library_call, function.fullname, positional, named, run.equations)
        return _reported(run, node, rule, *operands)
    return call(run, function, None, arguments, node)


def _by_kind(
    arguments: Sequence[Argument],
) -> tuple[list[object], dict[str, object], list[tuple[Expression, object]]] | None:
    """The values by place and by name, and all with how they are written; None where stars leave that open."""
    flat = list(expanded(arguments))
    if any(one.kind not in (ARG_POS, ARG_NAMED) for one in flat):
        return None
    positional = [one.value for one in flat if one.kind == ARG_POS]
    named = {one.name: one.value for one in flat if one.name is not None}
    return positional, named, [(one.expression, one.value) for one in flat]


def _method_call(run: Run, receiver: Object, name: str, arguments: Sequence[Argument], node: CallExpr) -> object:
    if receiver.info.fullname == SEQUENTIAL and name == "forward":
        return forwarded(run, receiver, arguments, node)
    function = method(receiver.info, name)
    if function is not None:
        return call(run, function, receiver, arguments, node)
    value = receiver.attribute(name)
    return _by_value(run, value, arguments, node) if isinstance(value, Function) else UNKNOWN


def _instance(run: Run, info: TypeInfo, arguments: Sequence[Argument], node: CallExpr) -> object:
    scores = scores_named(info.fullname)
    if scores is not None:
        held = arguments[0].value if len(arguments) == 1 else UNKNOWN
        if not isinstance(held, ShapeTensor):
            return UNKNOWN
        check_last_axis(run, node, info.name, (arguments[0].expression, held))
        return scores(held)
    new = made(run, info, arguments, node)
    if isinstance(new, Object) and new.exact:
        examined(run, new, node)
    return new


def _by_value(run: Run, function: Function, arguments: Sequence[Argument], node: CallExpr) -> object:
    """A call of a function that a name or a field stands for."""
    if isinstance(function.node, FuncDef):
        return call(run, function.node, function.receiver, arguments, node, function.outside)
    found, complete = given(function.node, 0, arguments)
    return looked_into(run, function, found, node, "lambda", complete=complete)


def _class(node: Expression) -> TypeInfo | None:
    owner = _definition(node.base if isinstance(node, IndexExpr) else node)
    return owner if isinstance(owner, TypeInfo) else None


def _overloaded(function: OverloadedFuncDef, arguments: Sequence[Argument]) -> object:
    """A tensor where every variant gives one, as ``mx.numpy()`` does."""
    known = _builtin(function, arguments)
    if known is not None:
        return known
    types = function.type.items if isinstance(function.type, Overloaded) else []
    return TENSOR if types and all(is_tensor(get_proper_type(one.ret_type)) for one in types) else UNKNOWN


def _definition(node: Expression) -> object:
    found = node.node if isinstance(node, RefExpr) else None
    return found.func if isinstance(found, Decorator) else found


def _builtin(definition: object, arguments: Sequence[Argument]) -> object:
    """The result of a function of Python that shapes are computed with; None of another function."""
    found = _by_kind(arguments)
    return None if found is None else builtin(getattr(definition, "fullname", ""), found[0], found[1])
