"""What a call demands of each type variable: the operands that meet in it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mypy.checker import TypeChecker
from mypy.constraints import SUPERTYPE_OF, Constraint, infer_constraints_for_callable
from mypy.expandtype import expand_type
from mypy.infer import infer_function_type_arguments
from mypy.join import join_type_list
from mypy.nodes import ARG_POS, ListExpr, SetExpr, TupleExpr, TypeInfo
from mypy.subtypes import is_subtype
from mypy.typeops import get_all_type_vars
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    NoneType,
    ParamSpecType,
    ProperType,
    Type,
    TypeVarId,
    TypeVarType,
    UninhabitedType,
    UnpackType,
    get_proper_type,
)

from moonxi.mypy_plugin.signatures import Actual, chosen, formals, signatures
from moonxi.mypy_plugin.traits import bounded_by_trait, is_object, is_trait, names_trait, undecided

type Operand = tuple[Type, str | None]
"""A type that meets others in a type variable, and the name of the parameter that brought it."""
type Mapping = list[list[int]]
"""For each parameter the positions of its arguments."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """The operands of a call that meet in one type variable bounded by a trait."""

    signature: CallableType
    variable: TypeVarType
    operands: list[Operand]

    def concerns_tensors(self, checker: TypeChecker) -> bool:
        """Whether the bound is a trait of moonxi, or an operand a tensor."""
        bound = get_proper_type(self.variable.upper_bound)
        if isinstance(bound, Instance) and is_trait(bound.type):
            return True
        home = checker.modules.get("moonxi.traits.tensor")
        symbol = home.names.get("Tensor") if home is not None else None
        if symbol is None or not isinstance(symbol.node, TypeInfo):
            return False
        tensor = Instance(symbol.node, [])
        return any(is_subtype(typ, tensor) for typ, _ in self.operands)

    def mixes(self) -> bool:
        """Whether no single tensor class is all of the operands; what is no tensor at all is for mypy to report."""
        types = [typ for typ, _ in self.operands if is_subtype(typ, self.variable.upper_bound)]
        if len(types) < 2:
            return False
        join = join_type_list(types)
        return names_trait(join) or not is_subtype(join, self.variable.upper_bound)

    def undecided(self) -> Type | None:
        """An operand whose own type is no single tensor class."""
        return next((typ for typ, _ in self.operands if undecided(typ)), None)


def meetings(signature: CallableType, arguments: list[Actual], checker: TypeChecker) -> Iterator[Meeting]:
    """For each type variable bounded by a trait what meets in it; also for those of functions given as arguments."""
    mapping = formals(signature, arguments)
    if mapping is None:
        return
    for variable in signature.variables:
        if bounded_by_trait(variable):
            yield Meeting(signature, variable, list(_operands(signature, variable.id, arguments, mapping, checker)))
    for function, given in _functions(signature, arguments, mapping, checker):
        yield from meetings(function, given, checker)


def _operands(
    signature: CallableType, variable: TypeVarId, arguments: list[Actual], mapping: Mapping, checker: TypeChecker
) -> Iterator[Operand]:
    seen: set[Type] = set()
    for formal, indices in enumerate(mapping):
        for index in indices:
            only = [[index] if i == formal else [] for i in range(len(mapping))]
            for typ in _told(signature, variable, arguments, only, index, checker):
                if typ not in seen and not isinstance(typ, (AnyType, NoneType, UninhabitedType)):
                    seen.add(typ)
                    yield typ, signature.arg_names[formal]


def _told(
    signature: CallableType,
    variable: TypeVarId,
    arguments: list[Actual],
    only: Mapping,
    index: int,
    checker: TypeChecker,
) -> list[ProperType]:
    """What one argument says of the variable, on its own.

    mypy has inferred an argument such as ``[x]`` for the parameter, so that it may already be a list of the trait."""
    found = _lower_bounds(signature, variable, arguments, only, checker)
    if all(_says_a_class(typ) for typ in found):
        return found
    written = arguments[index].expression
    if isinstance(written, (ListExpr, SetExpr, TupleExpr)):
        return [get_proper_type(checker.lookup_type(item)) for item in written.items if checker.has_type(item)]
    with checker.local_type_map, checker.msg.filter_errors():
        alone = [*arguments]
        alone[index] = replace(arguments[index], typ=checker.expr_checker.accept(written))
    return _lower_bounds(signature, variable, alone, only, checker)


def _lower_bounds(
    signature: CallableType, variable: TypeVarId, arguments: list[Actual], mapping: Mapping, checker: TypeChecker
) -> list[ProperType]:
    constraints = infer_constraints_for_callable(
        signature,
        [one.typ for one in arguments],
        [one.kind for one in arguments],
        [one.name for one in arguments],
        mapping,
        checker.expr_checker.argument_infer_context(),
    )
    return [
        get_proper_type(one.target)
        for one in constraints
        if one.type_var == variable and one.op == SUPERTYPE_OF and not _unsolved(one, signature)
    ]


def _unsolved(constraint: Constraint, signature: CallableType) -> bool:
    """Whether the target is in terms of variables that are still to be solved: those of the call and its callbacks."""
    open_ids = {variable.id for variable in (*constraint.extra_tvars, *signature.variables)}
    return any(variable.id in open_ids for variable in get_all_type_vars(constraint.target))


def _says_a_class(typ: ProperType) -> bool:
    return not undecided(typ) and not isinstance(typ, AnyType) and not is_object(typ)


def _functions(
    signature: CallableType, arguments: list[Actual], mapping: Mapping, checker: TypeChecker
) -> Iterator[tuple[CallableType, list[Actual]]]:
    """The generic functions among the arguments, as in ``map(pair, xs, ys)``, with what they will be called with."""
    functions = [_generic_functions(one.typ) for one in arguments]
    if not any(functions):
        return
    solution, _ = infer_function_type_arguments(
        signature,
        [None if some else one.typ for some, one in zip(functions, arguments, strict=True)],
        [one.kind for one in arguments],
        [one.name for one in arguments],
        mapping,
        checker.expr_checker.argument_infer_context(),
    )
    types = {variable.id: typ for variable, typ in zip(signature.variables, solution, strict=True) if typ is not None}
    for formal, indices in enumerate(mapping):
        for expected in signatures(signature.arg_types[formal]):
            passed_on = expected.param_spec()
            fixed = expected.arg_types[:-2] if passed_on else expected.arg_types
            if any(isinstance(typ, UnpackType) for typ in fixed):  # as many arguments as there happen to be
                continue
            for index in indices:
                given = [Actual(arguments[index].expression, expand_type(typ, types), ARG_POS, None) for typ in fixed]
                if passed_on:
                    given += _passed_on(signature, passed_on, arguments, mapping)
                function = chosen(functions[index], given) if functions[index] else None
                if function is not None:
                    yield function, given


def _generic_functions(typ: Type) -> list[CallableType]:
    """The signatures of a function among the arguments, if one of them is generic in a tensor class."""
    found = list(signatures(typ))
    return found if any(bounded_by_trait(variable) for one in found for variable in one.variables) else []


def _passed_on(
    signature: CallableType, parameters: ParamSpecType, arguments: list[Actual], mapping: Mapping
) -> Iterator[Actual]:
    """The arguments that a call passes on as ``*args: P.args`` and ``**kwargs: P.kwargs``."""
    for formal, indices in enumerate(mapping):
        typ = get_proper_type(signature.arg_types[formal])
        if isinstance(typ, ParamSpecType) and typ.id == parameters.id:
            yield from (arguments[index] for index in indices)
