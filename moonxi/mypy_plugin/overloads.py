"""Which argument of a call is wrong, where a function has several signatures and it fits none of them.

mypy says "No overload variant" there and lists them all. An argument whose type is written without type variables in
each of them, such as the optimizer of a `Trainer`, is looked at on its own first, and so is whether one is missing:
then mypy reports it as it does for a function with one signature.
"""

from collections.abc import Sequence
from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import ARG_STAR, ARG_STAR2, CallExpr, LambdaExpr, RefExpr
from mypy.plugin import FunctionSigContext
from mypy.subtypes import is_subtype
from mypy.typeops import get_all_type_vars
from mypy.types import AnyType, CallableType, Type, TypeOfAny

from moonxi.mypy_plugin.signatures import Actual, formals, missing, named, signatures

_ANY: Final = AnyType(TypeOfAny.from_error)


def checked_overload(ctx: FunctionSigContext) -> CallableType:
    """One of the signatures, as it is; or, after what is wrong has been reported, one that takes and gives anything.

    mypy asks for each of the signatures in turn: the first time is the one to report."""
    call, signature = ctx.context, ctx.default_signature
    if not isinstance(call, CallExpr) or not isinstance(call.callee, RefExpr) or not isinstance(ctx.api, TypeChecker):
        return signature
    checker = ctx.api
    every = list(signatures(named(call.callee, checker)))
    if len(every) < 2 or ARG_STAR in call.arg_kinds or ARG_STAR2 in call.arg_kinds:
        return signature
    wrong = _wrong(call, [one.with_unpacked_kwargs() for one in every], checker)
    if wrong is None:
        return signature
    if signature == every[0]:
        checker.expr_checker.check_call(wrong, call.args, call.arg_kinds, call, call.arg_names)
    return signature.copy_modified(
        arg_types=[_ANY, _ANY],
        arg_kinds=[ARG_STAR, ARG_STAR2],
        arg_names=[None, None],
        ret_type=_ANY,
        variables=[],
        unpack_kwargs=False,
    )


def _wrong(call: CallExpr, every: Sequence[CallableType], checker: TypeChecker) -> CallableType | None:
    """A signature that asks for no more than what the call lacks in any case; None if nothing is certain."""
    unknown: Type = _ANY
    written = zip(call.args, call.arg_kinds, call.arg_names, strict=True)
    arguments = [Actual(one, unknown, kind, name) for one, kind, name in written]
    fitting = [(one, mapping) for one in every if (mapping := formals(one, arguments)) is not None]
    if not fitting:
        nearest = min(every, key=lambda one: missing(one, arguments))
        return _only(nearest, None)
    for place, argument in enumerate(arguments):
        if isinstance(argument.expression, LambdaExpr):
            continue
        at = [next(number for number, some in enumerate(mapping) if place in some) for _, mapping in fitting]
        wanted = [one.arg_types[number] for (one, _), number in zip(fitting, at, strict=True)]
        if any(get_all_type_vars(typ) for typ in wanted):
            continue
        with checker.local_type_map, checker.msg.filter_errors():
            given = checker.expr_checker.accept(argument.expression, wanted[0])
        if not any(is_subtype(given, typ) for typ in wanted):
            return _only(fitting[0][0], at[0])
    return None


def _only(signature: CallableType, parameter: int | None) -> CallableType:
    """The signature in which all parameters but one may be anything."""
    types: list[Type] = [typ if place == parameter else _ANY for place, typ in enumerate(signature.arg_types)]
    return signature.copy_modified(arg_types=types, ret_type=_ANY, variables=[])
