"""A call as it was before mypy solved its type variables, which hooks are not told."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mypy.argmap import map_actuals_to_formals
from mypy.checker import TypeChecker
from mypy.erasetype import erase_typevars
from mypy.expandtype import freshen_function_type_vars
from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    ArgKind,
    CallExpr,
    Expression,
    MemberExpr,
    RefExpr,
    TupleExpr,
)
from mypy.plugin import FunctionContext, MethodContext
from mypy.subtypes import find_member, is_subtype
from mypy.types import (
    CallableType,
    Instance,
    Overloaded,
    TupleType,
    Type,
    TypedDictType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

type Context = FunctionContext | MethodContext

_CALL = "__call__"
_PARTIAL = "__mypy_partial"  # where mypy's own plugin keeps the signature of a functools.partial


@dataclass(frozen=True, slots=True)
class Actual:
    """An argument where the call is written."""

    expression: Expression
    typ: Type
    kind: ArgKind
    name: str | None


def actuals(ctx: Context) -> list[Actual]:
    """The arguments of the call, each once; those of a tuple after ``*`` one by one."""
    found: dict[int, list[Actual]] = {}
    for expressions, types, kinds, names in zip(ctx.args, ctx.arg_types, ctx.arg_kinds, ctx.arg_names, strict=True):
        for expression, typ, kind, name in zip(expressions, types, kinds, names, strict=True):
            found.setdefault(id(expression), list(_expanded(Actual(expression, typ, kind, name))))
    return [one for some in found.values() for one in some]


def _expanded(actual: Actual) -> Iterator[Actual]:
    typ = get_proper_type(actual.typ)
    if actual.kind == ARG_STAR and isinstance(typ, TupleType):
        written = actual.expression.items if isinstance(actual.expression, TupleExpr) else []
        for i, item in enumerate(typ.items):
            expression = written[i] if len(written) == len(typ.items) else actual.expression
            yield Actual(expression, item, ARG_POS, None)
    elif actual.kind == ARG_STAR2 and isinstance(typ, TypedDictType):
        for name, item in typ.items.items():
            yield Actual(actual.expression, item, ARG_NAMED, name)
    else:
        yield actual


def formals(signature: CallableType, arguments: list[Actual]) -> list[list[int]] | None:
    """For each parameter the arguments that it gets; None if the arguments do not fit the signature."""
    mapping = _mapping(signature, arguments)
    return None if _missing(signature, mapping, len(arguments)) else mapping


def missing(signature: CallableType, arguments: list[Actual]) -> int:
    """How many arguments are missing or too many for a signature."""
    return _missing(signature, _mapping(signature, arguments), len(arguments))


def _missing(signature: CallableType, mapping: list[list[int]], arguments: int) -> int:
    given = {i for some in mapping for i in some}
    wrong = arguments - len(given)
    for kind, some in zip(signature.arg_kinds, mapping, strict=True):
        wrong += kind.is_required() and not some
        wrong += not kind.is_star() and len(some) > 1
    return wrong


def _mapping(signature: CallableType, arguments: list[Actual]) -> list[list[int]]:
    return map_actuals_to_formals(
        [one.kind for one in arguments],
        [one.name for one in arguments],
        signature.arg_kinds,
        signature.arg_names,
        lambda i: arguments[i].typ,
    )


def generic(ctx: Context, fullname: str, checker: TypeChecker) -> list[CallableType]:
    """The signatures that the call may have been solved from: several for an overloaded callee."""
    callee = _callee(ctx, fullname, checker)
    found = [signature.with_unpacked_kwargs().with_normalized_var_args() for signature in signatures(callee)]
    return [freshen_function_type_vars(one) if one.variables else one for one in found]


def chosen(overloads: Sequence[CallableType], arguments: list[Actual]) -> CallableType | None:
    """The first of the signatures that the arguments fit, as mypy chooses among overloads."""
    if len(overloads) == 1:
        return overloads[0]
    return next((one for one in overloads if _fits(one, arguments)), None)


def _fits(signature: CallableType, arguments: list[Actual]) -> bool:
    mapping = formals(signature, arguments)
    if mapping is None:
        return False
    for kind, parameter, indices in zip(signature.arg_kinds, signature.arg_types, mapping, strict=True):
        proper = get_proper_type(parameter)
        wanted = proper.upper_bound if isinstance(proper, TypeVarType) else erase_typevars(proper)
        if not kind.is_star() and not all(is_subtype(arguments[i].typ, wanted) for i in indices):
            return False
    return True


def solved(ctx: Context, checker: TypeChecker) -> CallableType | None:
    """The signature with mypy's solution in it; None for an overloaded callee and for an operator."""
    if not isinstance(ctx.context, CallExpr) or not checker.has_type(ctx.context.callee):
        return None
    callee = get_proper_type(checker.lookup_type(ctx.context.callee))
    if isinstance(callee, CallableType) and len(callee.arg_types) == len(ctx.arg_types):
        return callee
    return None


def _callee(ctx: Context, fullname: str, checker: TypeChecker) -> Type | None:
    expressions = checker.expr_checker
    expression = ctx.context.callee if isinstance(ctx.context, CallExpr) else None
    if isinstance(ctx, MethodContext):
        if isinstance(ctx.type, Instance) and ctx.type.extra_attrs and _PARTIAL in ctx.type.extra_attrs.attrs:
            return ctx.type.extra_attrs.attrs[_PARTIAL]
        name = fullname.rpartition(".")[2]
        if name != _CALL and isinstance(expression, MemberExpr):
            name = expression.name
        with checker.msg.filter_errors():
            return expressions.analyze_external_member_access(name, ctx.type, ctx.context)
    if isinstance(expression, RefExpr):
        return named(expression, checker)
    if isinstance(expression, CallExpr) and checker.has_type(expression.callee):
        maker = get_proper_type(checker.lookup_type(expression.callee))
        return maker.ret_type if isinstance(maker, CallableType) else None
    if expression is not None:
        with checker.local_type_map, checker.msg.filter_errors():
            return expressions.accept(expression)
    return None


def named(function: RefExpr, checker: TypeChecker) -> Type:
    """The type of a function or class before a call has solved its type variables."""
    with checker.msg.filter_errors():
        return checker.expr_checker.analyze_ref_expr(function)


def signatures(callee: Type | None) -> Iterator[CallableType]:
    """The signature of a function, those of an overloaded function, of an object with ``__call__``."""
    proper = get_proper_type(callee)
    match proper:
        case CallableType():
            yield proper
        case Overloaded():
            yield from proper.items
        case UnionType():
            for item in proper.items:
                yield from signatures(item)
        case Instance():
            yield from signatures(find_member("__call__", proper, proper, is_operator=True))
