"""The error code, and what an error says."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from mypy.errorcodes import ErrorCode
from mypy.messages import format_type_bare
from mypy.options import Options
from mypy.types import Instance, ProperType, Type, TypeVarType, get_proper_type

TENSOR_MIX: Final = ErrorCode("tensor-mix", "Report calls and annotations that mix or forget tensor classes", "moonxi")

_GRAD = "moonxi.autodiff.tensor.Grad"


def mix(function: str, variable: str, operands: Sequence[tuple[Type, str | None]], options: Options) -> str:
    """A call in which several tensor classes meet; each operand with the name of its parameter."""
    named = [format_type_bare(typ, options) + (f" ({parameter})" if parameter else "") for typ, parameter in operands]
    return f"{function} mixes tensor classes for {variable}: {_listed(named)}; {_advice([t for t, _ in operands])}"


def forgotten(function: str, variable: str, operand: Type, options: Options) -> str:
    """A call with an operand whose own type does not say which tensor class it is."""
    return (
        f"{function} gets {format_type_bare(operand, options)} for {variable}, which is no single tensor class; "
        "decide which one before the call, or make the caller generic"
    )


def value_of_trait(trait: str) -> str:
    """A trait as the type of a value."""
    return (
        f'"{trait}" is a trait: as the type of a value it forgets the tensor class; '
        f"make the function or class generic, [T: {trait}], and write T"
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


def _advice(types: Sequence[Type]) -> str:
    proper = [get_proper_type(typ) for typ in types]
    if any(isinstance(typ, TypeVarType) for typ in proper):
        return "one type variable stands for one class: use the same for all of them"
    if any(_levels(a) != _levels(b) for a, b in pairwise(proper)):
        return "bring the plain one in with constant(x)"
    if all(isinstance(a, Instance) and isinstance(b, Instance) and a.type is b.type for a, b in pairwise(proper)):
        return "convert one of them explicitly: like.from_host(x.to_host())"
    return "move one of them explicitly: like.from_host(x.to_host())"


def _levels(typ: ProperType) -> int:
    """How many levels of differentiation a tensor class has."""
    if isinstance(typ, Instance) and any(base.fullname == _GRAD for base in typ.type.mro):
        return 1 + max((_levels(get_proper_type(arg)) for arg in typ.args), default=0)
    return 0
