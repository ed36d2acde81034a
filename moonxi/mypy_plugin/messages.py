"""The error codes, and what an error says."""

from collections.abc import Sequence
from typing import Final

from mypy.errorcodes import ErrorCode
from mypy.messages import format_type_bare
from mypy.options import Options
from mypy.types import Instance, ProperType, Type, TypeVarType, get_proper_type

TENSOR_MIX: Final = ErrorCode("tensor-mix", "Report calls and annotations that mix or forget tensor classes", "moonxi")
TENSOR_SHAPE: Final = ErrorCode("tensor-shape", "Report operations on tensors whose shapes do not fit", "moonxi")
TENSOR_BROADCAST: Final = ErrorCode("tensor-broadcast", "Report axes that meet themselves in broadcasting", "moonxi")
TENSOR_RESHAPE: Final = ErrorCode("tensor-reshape", "Report reshapes that mix named axes up", "moonxi")
TENSOR_AXIS: Final = ErrorCode("tensor-axis", "Report a softmax over samples, or past the classes", "moonxi")
SHAPE_CODES: Final = (TENSOR_SHAPE, TENSOR_BROADCAST, TENSOR_RESHAPE, TENSOR_AXIS)
TENSOR_SCORES: Final = ErrorCode("tensor-scores", "Report scores made from what they are not", "moonxi")
TENSOR_KEY: Final = ErrorCode("tensor-key", "Report layers of one model that start with the same numbers", "moonxi")
TENSOR_UNUSED: Final = ErrorCode("tensor-unused", "Report new values that are dropped", "moonxi")

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
    if any(isinstance(get_proper_type(typ), TypeVarType) for typ in types):
        return "one type variable stands for one class: use the same for all of them"
    plain = [_plain(typ) for typ in types]
    if len({levels for _, levels in plain}) > 1:
        return "bring the plain one in with constant(x)"
    if len({tensor.type for tensor, _ in plain if isinstance(tensor, Instance)}) == 1:
        return "convert one of them explicitly: like.from_host(x.to_host())"
    return "move one of them explicitly: like.from_host(x.to_host())"


def _plain(typ: Type) -> tuple[ProperType, int]:
    """The class of the values of a tensor under differentiation, and the levels above it."""
    proper, levels = get_proper_type(typ), 0
    while isinstance(proper, Instance) and proper.args and any(base.fullname == _GRAD for base in proper.type.mro):
        proper, levels = get_proper_type(proper.args[0]), levels + 1
    return proper, levels
