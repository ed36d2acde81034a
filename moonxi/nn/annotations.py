"""What annotations say about shapes: as objects, for text could not be checked."""

import re
from collections.abc import Iterator, Mapping
from types import CodeType, UnionType
from typing import ForwardRef, TypeAliasType, get_args, get_origin

from jaxtyping import AbstractArray
from typing_extensions import is_protocol

from moonxi.errors import ModuleError
from moonxi.traits import Labels, Mask

type ShapeAnnotation = type[AbstractArray]
"""Such as ``Float[T, "batch 784"]``: an object at run time."""

_IS_TEXT = 0x100_0000  # CO_FUTURE_ANNOTATIONS: the flag of code under 'from __future__ import annotations'
_QUOTED_SHAPE = re.compile(r"\[.*['\"]")


def shapes_in(annotation: object) -> Iterator[type[AbstractArray]]:
    """Every annotation of a shape within an annotation: in unions, containers and aliases."""
    return (one for one in map(shape_annotation, parts_within(annotation)) if one is not None)


def shape_annotation(annotation: object) -> type[AbstractArray] | None:
    """The annotation if it is that of one tensor with a shape, and not of something that holds one."""
    if isinstance(annotation, type) and issubclass(annotation, AbstractArray) and annotation is not AbstractArray:
        return annotation
    return None


def is_tensor_class(kind: object) -> bool:
    """Whether this is a class of tensors, such as `NpArray`, and not a trait."""
    return isinstance(kind, type) and hasattr(kind, "stop_gradient") and not is_protocol(kind)


def resolved(annotation: object) -> bool:
    """Whether no part of an annotation is text."""
    return not any(isinstance(one, str | ForwardRef) for one in parts_within(annotation))


def parts_within(annotation: object) -> Iterator[object]:
    """An annotation and all that it consists of; what an alias stands for once, for it may have itself as a part."""
    waiting = [annotation]
    seen: set[TypeAliasType] = set()
    while waiting:
        one = waiting.pop()
        yield one
        parts = [*get_args(one)]
        alias = one if isinstance(one, TypeAliasType) else get_origin(one)
        if isinstance(alias, TypeAliasType) and alias not in seen:
            seen.add(alias)
            parts.append(alias.__value__)
        waiting += reversed(parts)


def refuse_text(where: str, annotations: Mapping[str, object], code: CodeType | None = None) -> None:
    """Raise `ModuleError` for annotations that are text: the shapes in them would not be checked, without a word."""
    if code is not None and code.co_flags & _IS_TEXT:
        raise ModuleError(
            f"{where}: 'from __future__ import annotations' makes text of its annotations, and their shapes could not "
            "be checked; remove that import"
        )
    for name, annotation in annotations.items():
        if isinstance(annotation, str) and _QUOTED_SHAPE.search(annotation):
            raise ModuleError(
                f"{where}: the annotation of {name} is text, and its shape could not be checked; write {annotation} "
                "without quotes around it"
            )


def spelled(annotation: object, names: Mapping[str, object]) -> str:
    """An annotation as written, with what stands in braces worked out for these arguments."""
    if isinstance(annotation, type) and issubclass(annotation, AbstractArray):
        dims = re.sub(r"\{[^{}]+\}", lambda found: _value(found[0], names), annotation.dim_str)
        held = annotation.array_type in (Labels, Mask)  # jaxtyping drops the type argument
        kind = f"{annotation.array_type.__name__}[T]" if held else "T"
        return f'{annotation.__name__.split("[")[0]}[{kind}, "{dims}"]'
    if isinstance(annotation, TypeAliasType) and any(shapes_in(annotation)):
        return spelled(annotation.__value__, names)
    if isinstance(annotation, UnionType):
        return " | ".join("None" if one is type(None) else spelled(one, names) for one in get_args(annotation))
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _value(braces: str, names: Mapping[str, object]) -> str:
    try:
        return str(eval(f"f{braces!r}", {}, dict(names)))
    except Exception:
        return braces
