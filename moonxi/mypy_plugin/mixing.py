"""The check of a call: does each type variable bounded by a trait stand for one tensor class?

Given ``def pair[T: Tensor](x: T, y: T) -> T``, mypy accepts ``pair(on_host, on_device)``: it solves ``T`` as the trait
itself, of which both are instances. The same happens in constructors, containers and callbacks.
"""

from mypy.checker import TypeChecker
from mypy.constraints import SUPERTYPE_OF, infer_constraints
from mypy.messages import callable_name
from mypy.nodes import CallExpr, IndexExpr, MemberExpr, NameExpr, TypeApplication
from mypy.nodes import Context as Position
from mypy.plugin import MethodContext
from mypy.subtypes import is_subtype
from mypy.types import AnyType, CallableType, Instance, ProperType, Type, TypeOfAny, TypeVarType, get_proper_type

from moonxi.mypy_plugin import messages
from moonxi.mypy_plugin.messages import TENSOR_MIX
from moonxi.mypy_plugin.signatures import Actual, Context, actuals, chosen, generic, solved
from moonxi.mypy_plugin.solutions import Meeting, meetings
from moonxi.mypy_plugin.traits import bounded_by_trait, first_trait, is_object, is_trait, names_trait, undecided

_NAMELESS = "<function>"


def checked(ctx: Context, fullname: str, checker: TypeChecker) -> Type:
    """The type of the result of the call, after the call has been reported if it mixes tensor classes."""
    result = ctx.default_return_type
    if not checker.in_checked_function():
        return result
    problem = _call(ctx, fullname, checker)
    if problem is None or not checker.msg.errors.is_error_code_enabled(TENSOR_MIX):
        return _with_name(result)
    checker.fail(problem, ctx.context, code=TENSOR_MIX)
    return AnyType(TypeOfAny.from_error) if undecided(result) else result  # one error is enough


def _call(ctx: Context, fullname: str, checker: TypeChecker) -> str | None:
    trait = _applied(ctx.context)
    if trait is not None:
        return messages.value_of_trait(trait)
    arguments = actuals(ctx)
    if isinstance(ctx, MethodContext) and _combines(ctx.type, arguments):
        return messages.forgotten(f'"{fullname.rpartition(".")[2]}"', "Self", ctx.type, checker.options)
    signature = chosen(generic(ctx, fullname, checker), arguments)
    if signature is None:
        return None
    return _problem(list(meetings(signature, arguments, checker)), signature, solved(ctx, checker), ctx, checker)


def _combines(receiver: ProperType, arguments: list[Actual]) -> bool:
    """Whether a bare trait meets a tensor: ``[x, y]`` of two classes that inherit a trait is a list of the trait."""
    if not isinstance(receiver, Instance) or not is_trait(receiver.type):
        return False
    return any(names_trait(one.typ) or is_subtype(one.typ, receiver) for one in arguments)


def _applied(call: Position) -> str | None:
    """The trait in ``Linear[Tensor](w, b)``."""
    callee = call.callee if isinstance(call, CallExpr) else None
    applied = callee.analyzed if isinstance(callee, IndexExpr) else None
    return first_trait(applied.types) if isinstance(applied, TypeApplication) else None


def _problem(
    met: list[Meeting], signature: CallableType, solution: CallableType | None, ctx: Context, checker: TypeChecker
) -> str | None:
    for meeting in met:
        if meeting.signature is signature and solution is not None and _decided(meeting.variable, signature, solution):
            continue
        if not meeting.concerns_tensors(checker):
            continue
        function = _name(meeting.signature, signature, ctx.context)
        if meeting.mixes():
            return messages.mix(function, meeting.variable.name, meeting.operands, checker.options)
        undecided_one = meeting.undecided()
        if undecided_one is not None:
            return messages.forgotten(function, meeting.variable.name, undecided_one, checker.options)
    return None


def _name(signature: CallableType, called: CallableType, call: Position) -> str:
    """The function in which tensor classes meet, quoted: the one called, or one that is given to it."""
    name = callable_name(signature)
    if name is not None and not name.startswith("<"):
        return name
    callee = call.callee if isinstance(call, CallExpr) and signature is called else None
    return f'"{callee.name}"' if isinstance(callee, (NameExpr, MemberExpr)) else "the call"


def _decided(variable: TypeVarType, signature: CallableType, solution: CallableType) -> bool:
    """Whether mypy has solved the variable as one tensor class, and so reports by itself what does not fit."""
    if len(signature.arg_types) != len(solution.arg_types):
        return False
    pairs = zip((*signature.arg_types, signature.ret_type), (*solution.arg_types, solution.ret_type), strict=True)
    for before, after in pairs:
        for constraint in infer_constraints(before, after, SUPERTYPE_OF):
            if constraint.type_var == variable.id:
                found = get_proper_type(constraint.target)
                return not (isinstance(found, AnyType) or is_object(found) or undecided(found) or _is(found, variable))
    return True


def _is(found: ProperType, variable: TypeVarType) -> bool:
    """Whether a variable was solved as its own bound."""
    bound = get_proper_type(variable.upper_bound)
    return isinstance(bound, Instance) and isinstance(found, Instance) and found.type is bound.type


def _with_name(typ: Type) -> Type:
    """A generic function as the result of a call, named: mypy runs no hook for calls of what has no name at all."""
    proper = get_proper_type(typ)
    if isinstance(proper, CallableType) and proper.get_name() is None and any(map(bounded_by_trait, proper.variables)):
        return proper.copy_modified(name=_NAMELESS)  # pyrefly: ignore[bad-argument-type]
    return typ
