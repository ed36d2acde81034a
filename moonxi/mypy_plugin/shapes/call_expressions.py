"""Calls where they are written: of functions, classes, methods of layers and operations of tensors."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    CallExpr,
    Decorator,
    Expression,
    FuncDef,
    IndexExpr,
    MemberExpr,
    OverloadedFuncDef,
    RefExpr,
    TypeInfo,
)
from mypy.types import Overloaded, get_proper_type

from moonxi.dims import Size
from moonxi.mypy_plugin.messages import TENSOR_BROADCAST
from moonxi.mypy_plugin.shapes.arguments import Argument, expanded, given
from moonxi.mypy_plugin.shapes.builtin_functions import builtin, elements
from moonxi.mypy_plugin.shapes.calls import call, initialised, made
from moonxi.mypy_plugin.shapes.classes import check_last_axis, check_softmax, check_weights
from moonxi.mypy_plugin.shapes.composition import SEQUENTIAL, examined, forwarded
from moonxi.mypy_plugin.shapes.equations import fresh
from moonxi.mypy_plugin.shapes.functions import looked_into
from moonxi.mypy_plugin.shapes.library import is_library, library_call
from moonxi.mypy_plugin.shapes.objects import Object, is_settled, is_tensor, method
from moonxi.mypy_plugin.shapes.operations import called
from moonxi.mypy_plugin.shapes.reporting import report_meeting, report_mixing, reported
from moonxi.mypy_plugin.shapes.run import Run
from moonxi.mypy_plugin.shapes.scalar_losses import check_given
from moonxi.mypy_plugin.shapes.values import (
    TENSOR,
    UNKNOWN,
    Each,
    Function,
    Grown,
    scores_named,
)
from moonxi.shape_tensor import ShapeTensor

_BROADCAST = ("maximum", "minimum", "equal", "where")
_OF_MATRICES = ("matmul", "transpose")
_JOINING = ("stack", "concatenate")


def call_expression(run: Run, node: CallExpr) -> object:
    """The result of a call; what is wrong in it is reported."""
    callee = node.callee
    if isinstance(callee, IndexExpr):  # Linear[NpArray](...)
        callee = callee.base
    receiver = run.around.evaluate(run, callee.expr) if isinstance(callee, MemberExpr) else None
    written = zip(node.arg_kinds, node.arg_names, node.args, strict=True)
    arguments = [Argument(kind, name, run.around.evaluate(run, one), one) for kind, name, one in written]
    definition = _definition(callee)
    check_given(run, getattr(definition, "fullname", ""), arguments)
    if not isinstance(callee, MemberExpr):
        own = run.around.evaluate(run, callee) if not isinstance(definition, FuncDef | OverloadedFuncDef) else None
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
    if isinstance(receiver, Grown):
        return _grow(receiver, callee.name, arguments)
    several = callee.name in _JOINING and any(one.kind == ARG_STAR for one in arguments)
    found = _by_kind([_one_of(one) for one in arguments] if several else arguments)
    if found is None:
        return UNKNOWN
    positional, named, operands = found
    rule = partial(called, callee.name, receiver, positional, named, run.equations)
    result = reported(run, node, rule, (callee.expr, receiver), *operands)
    if callee.name in _BROADCAST and operands:
        report_meeting(run, node, callee.name, (callee.expr, receiver), operands[-1], result)
    if several:
        return _of_some_length(result, named.get("axis", UNKNOWN))
    if callee.name == "reshape":
        report_mixing(run, node, (callee.expr, receiver), result)
    if callee.name == "matmul":
        check_weights(run, node, (callee.expr, receiver))
    if callee.name in _OF_MATRICES:
        for value in (receiver, *positional):
            run.meant(value, TENSOR_BROADCAST)
    run.suspicions.pass_on(result, receiver, *positional, code=TENSOR_BROADCAST)
    if positional:
        check_softmax(run, node, callee.name, (callee.expr, receiver), positional[0], result)
    return result


def _grow(grown: Grown, change: str, arguments: Sequence[Argument]) -> object:
    """``x.append(y)`` and the like."""
    if change in ("append", "insert") and arguments:
        added = arguments[-1].value
        grown.add(UNKNOWN if isinstance(added, Object) and not is_settled(added) else added)
    elif change == "extend":
        more = elements(arguments[0].value) if arguments else None
        for one in more if isinstance(more, tuple) else [more.item() if isinstance(more, Each) else UNKNOWN]:
            grown.add(one)
    return grown.item() if change == "pop" else UNKNOWN


def _one_of(one: Argument) -> Argument:
    """For ``*xs`` one of the tensors in it."""
    if one.kind == ARG_STAR and isinstance(one.value, Each):
        return replace(one, kind=ARG_POS, value=one.value.item())
    return one


def _of_some_length(result: object, axis: object) -> object:
    """What comes of joining some tensors, of which nobody knows how many they are."""
    if not isinstance(result, ShapeTensor) or not isinstance(axis, int):
        return UNKNOWN
    shape: list[Size] = list(result.shape)
    shape[axis] = fresh()
    return ShapeTensor(tuple(shape), result.dtype)


def _function_call(run: Run, function: FuncDef, arguments: Sequence[Argument], node: CallExpr) -> object:
    if is_library(function.fullname):
        found = _by_kind(arguments)
        if found is None:
            return UNKNOWN
        positional, named, operands = found
        rule = partial(library_call, function.fullname, positional, named, run.equations)
        return reported(run, node, rule, *operands)
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
        known = _builtin(function, arguments)
        return call(run, function, receiver, arguments, node) if known is None else known
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
