"""What annotations say about the values that they allow."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter
from types import NoneType, UnionType
from typing import Literal, TypeAliasType, TypeVar, Union, get_args, get_origin

from moonxi.nn import Eval, Layer
from moonxi.nn.annotations import ShapeAnnotation, is_tensor_class, parts_within, shape_annotation, shapes_in
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes import specification
from moonxi.shapes.specification import Item
from moonxi.traits import Labels, Mask

_BRACES = re.compile(r"\{([^{}]+)\}")
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Stated:
    """What annotations say of the sizes that they name."""

    leading: frozenset[str] = frozenset()
    """The names of the first of several axes: of the batch, for which code must not expect a certain size."""
    alone: frozenset[str] = frozenset()
    """The names of the one axis of vectors."""
    features: frozenset[str] = frozenset()
    """The names of the last of two or three axes, for which a model is made; those of an image are not."""
    together: tuple[frozenset[str], ...] = ()
    """The names of each shape, that of the result too: they are not the same, nor is one computed from another."""
    numbers: frozenset[int] = frozenset()
    """The sizes that are numbers."""


def stated(annotations: Iterable[object], result: object = None) -> Stated:
    """What these annotations of arguments say, and that of the result."""
    shapes = [specification.read(array.dim_str) for one in annotations for array in _shapes_within(one)]
    names = list(map(_names, shapes))
    of_result = [_names(specification.read(array.dim_str)) for array in _shapes_within(result)]
    return Stated(
        frozenset(one[0] for one in names if len(one) > 1) - {""},
        frozenset(one[0] for one in names if len(one) == 1) - {""},
        frozenset(one[-1] for one in names if len(one) in (2, 3)) - {""},
        tuple(map(frozenset, names + of_result)),
        frozenset(int(item.text) for items in shapes for item in items if item.text.isdecimal()),
    )


def _names(items: Iterable[Item]) -> list[str]:
    """The name of each axis, empty if it has none."""
    return [item.text if item.text.isidentifier() else "" for item in items]


def in_braces(annotations: Iterable[object]) -> frozenset[str]:
    """The names in braces, such as that of an integer that is given: ``heads`` of ``"batch {heads} d"``."""
    texts = [text for one in annotations for array in _shapes_within(one) for text in _BRACES.findall(array.dim_str)]
    return frozenset(name for text in texts for name in _NAME.findall(text))


def _shapes_within(annotation: object) -> Iterator[ShapeAnnotation]:
    """The shapes that an annotation states, those of the fields of dataclasses too, though not of layers."""
    yield from shapes_in(annotation)
    origin = get_origin(annotation) or annotation
    if isinstance(origin, type) and is_dataclass(origin) and not is_layer(origin):
        for one in fields(origin):
            yield from _shapes_within(one.type)


def alternatives(parameter: Parameter) -> int:
    """How many kinds of argument a parameter has that are worth a call each."""
    return 1 if is_left_to_default(parameter) else _alternatives(parameter.annotation)


def is_left_to_default(parameter: Parameter) -> bool:
    """Whether a parameter gets its default: if it has one, unless it takes tensors or the mode."""
    if parameter.default is parameter.empty:
        return False
    return not mentions_tensors(parameter.annotation) and Eval not in flattened(parameter.annotation)


def _alternatives(annotation: object) -> int:
    if isinstance(annotation, TypeAliasType):
        return _alternatives(annotation.__value__)
    if get_origin(annotation) is Literal:
        return len(get_args(annotation))
    return len(flattened(annotation))


def flattened(annotation: object) -> list[object]:
    """The members of a union, those within aliases too, and None last."""
    if isinstance(annotation, TypeAliasType):
        return flattened(annotation.__value__)
    if get_origin(annotation) not in (Union, UnionType):
        return [annotation]
    members = [one for part in get_args(annotation) for one in flattened(part)]
    return [one for one in members if one is not NoneType] + [one for one in members if one is NoneType]


def mentions_tensors(annotation: object) -> bool:
    """Whether a value of this annotation holds tensors."""
    return any(map(_is_of_tensors, parts_within(annotation)))


def _is_of_tensors(annotation: object) -> bool:
    if isinstance(annotation, TypeVar):
        return _stands_for_tensors(annotation)
    origin = get_origin(annotation) or annotation
    return (
        shape_annotation(annotation) is not None
        or is_layer(annotation)
        or origin in (Labels, Mask)
        or is_tensor_class(origin)
    )


def is_layer(annotation: object) -> bool:
    """Whether a value of this annotation is a layer or model."""
    origin = get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Layer)


def _stands_for_tensors(parameter: TypeVar) -> bool:
    """Whether a type parameter stands for tensor classes: its bound is a trait."""
    try:
        return parameter.__bound__ is not None and isinstance(ShapeTensor(()), parameter.__bound__)
    except TypeError:  # a bound that no object can be asked for
        return False


def wants_more(generic: object) -> str | None:
    """The name of the bound of a type parameter, if it asks for operations that shapes alone do not have."""
    for one in getattr(generic, "__type_params__", ()):
        bound = one.__bound__ if isinstance(one, TypeVar) else None
        if isinstance(bound, type) and hasattr(bound, "stop_gradient") and not isinstance(ShapeTensor(()), bound):
            return bound.__name__
    return None


def spelled(annotation: object) -> str:
    """An annotation as text, without the modules."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def type_arguments(generic: object, parts: Sequence[object]) -> dict[TypeVar, object]:
    """What the type parameters of a generic class or alias stand for."""
    parameters: tuple[object, ...] = getattr(generic, "__type_params__", ())
    return {one: part for one, part in zip(parameters, parts, strict=False) if isinstance(one, TypeVar)}
