"""Which parameter each argument of a call belongs to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mypy.nodes import ARG_NAMED, ARG_NAMED_OPT, ARG_OPT, ARG_POS, ARG_STAR, ArgKind, Expression, FuncItem
from mypy.types import CallableType, Type


@dataclass(frozen=True)
class Argument:
    """An argument where the call is written, and its value."""

    kind: ArgKind
    name: str | None
    value: object
    expression: Expression


@dataclass(frozen=True)
class Given:
    """An argument as the function sees it."""

    place: int
    """The number of its parameter, that of ``self`` being 0; several go to one with a star."""
    name: str
    """Of the parameter; the number of the argument, from 1 on, where only the place counts."""
    typ: Type | None
    """With which the parameter is declared."""
    value: object
    expression: Expression


def expanded(arguments: Iterable[Argument]) -> Iterator[Argument]:
    """The arguments, those of a tuple after ``*`` one by one."""
    for one in arguments:
        if one.kind == ARG_STAR and isinstance(one.value, tuple):
            yield from (Argument(ARG_POS, None, value, one.expression) for value in one.value)
        else:
            yield one


def given(function: FuncItem, skipped: int, arguments: Sequence[Argument]) -> tuple[list[Given], bool]:
    """The arguments by parameter, as far as that depends on no values; whether these are all of them."""
    typ = function.type if isinstance(function.type, CallableType) else None
    kinds = typ.arg_kinds if typ is not None else function.arg_kinds
    names = typ.arg_names if typ is not None else function.arg_names
    types: Sequence[Type | None] = typ.arg_types if typ is not None else [None] * len(kinds)
    found: list[Given] = []
    place = skipped
    for one in expanded(arguments):
        if one.kind == ARG_POS and place < len(kinds) and kinds[place] in (ARG_POS, ARG_OPT, ARG_STAR):
            number = str(place + 1 - skipped)
            name = names[place] if kinds[place] != ARG_STAR else number
            found.append(Given(place, name or number, types[place], one.value, one.expression))
            place += kinds[place] != ARG_STAR
        elif one.kind == ARG_NAMED and one.name is not None and one.name in names:
            at = names.index(one.name)
            if kinds[at] not in (ARG_POS, ARG_OPT, ARG_NAMED, ARG_NAMED_OPT):
                return found, False
            found.append(Given(at, one.name, types[at], one.value, one.expression))
        else:
            return found, False  # which parameters the rest belongs to depends on values
    return found, True


def parameter_names(function: FuncItem) -> list[str]:
    """The names of the parameters, as far as mypy keeps them."""
    arguments = getattr(function, "arguments", None)  # not of one from mypy's cache
    if arguments:
        return [one.variable.name for one in arguments]
    return [name or "" for name in function.arg_names]
