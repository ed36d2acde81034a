"""Shape annotations checked where sizes are symbolic, of which jaxtyping knows nothing.

It compares sizes with ``==``, and makes text of what stands in braces; here sizes agree as in the rules of operations.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from string import Formatter
from types import UnionType
from typing import Annotated, TypeAliasType, TypeVar, Union, get_args, get_origin

from beartype.door import is_bearable
from jaxtyping import AbstractArray

from moonxi.dims import Dim
from moonxi.nn.annotations import shapes_in
from moonxi.nn.findings import misfit
from moonxi.shapes import specification
from moonxi.shapes.specification import Names
from moonxi.traits import Labels, Mask, Tensor


class SymbolicChecks:
    """The checks of one function, for calls with symbolic sizes."""

    def __init__(self, function: Callable[..., object], signature: inspect.Signature) -> None:
        self._function = function
        self._signature = signature

    def concern(self, layer: object, arguments: Sequence[object]) -> bool:
        """Whether a call has symbolic sizes, in an argument or in what the annotations compute from the layer."""
        if any(map(is_symbolic, arguments)):
            return True
        first = next(iter(self._signature.parameters))
        return any(isinstance(_computed(one, {first: layer}), Dim) for one in self._braces)

    @cached_property
    def _braces(self) -> list[str]:
        parameters = self._signature.parameters.values()
        annotations = (*(one.annotation for one in parameters), self._signature.return_annotation)
        texts = [array.dim_str for one in annotations for array in shapes_in(one)]
        return [expression for text in texts for _, expression, _, _ in Formatter().parse(text) if expression]

    def call(self, where: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """The result of the call, once the arguments fit; raises as the checks of numbers do."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        names = Names()
        for name, value in bound.arguments.items():
            parameter = self._signature.parameters[name]
            if parameter.annotation is parameter.empty:
                continue
            values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
            for one in values:
                if not fits(parameter.annotation, one, names, bound.arguments):
                    what = f"{where}: argument {name}"
                    raise misfit(what, parameter.annotation, one, bound.arguments, str(names))
        result = self._function(*args, **kwargs)
        expected = self._signature.return_annotation
        if expected is not self._signature.empty and not fits(expected, result, names, bound.arguments):
            raise misfit(f"{where}: result", expected, result, bound.arguments, str(names))
        return result


def is_symbolic(value: object) -> bool:
    """Whether a value has a symbolic size: a tensor, or what holds one and has its shape."""
    if isinstance(value, list | tuple):
        return any(map(is_symbolic, value))
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and any(isinstance(size, Dim) for size in shape)


def fits(annotation: object, value: object, names: Names, arguments: Mapping[str, object]) -> bool:
    """Whether the value is what the annotation says, shapes included; the names of its sizes are bound then."""
    if isinstance(annotation, type) and issubclass(annotation, AbstractArray):
        return _fits_array(annotation, value, names, arguments)
    if not any(shapes_in(annotation)):
        return is_bearable(value, annotation)  # type: ignore[arg-type]  # to mypy it is no type form
    origin, parts = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, TypeAliasType):
        return fits(annotation.__value__, value, names, arguments)
    if isinstance(origin, TypeAliasType):
        return fits(origin.__value__, value, names, arguments)
    if origin in (Union, UnionType):
        return any(_tried(one, value, names, arguments) for one in parts)
    if origin is Annotated:
        return fits(parts[0], value, names, arguments)
    if not isinstance(origin, type) or not isinstance(value, origin):
        return False
    if origin is tuple and isinstance(value, tuple) and parts[-1:] != (...,):
        return len(value) == len(parts) and all(
            fits(one, part, names, arguments) for one, part in zip(parts, value, strict=True)
        )
    if isinstance(value, list | tuple):
        return all(fits(parts[0], part, names, arguments) for part in value)
    return True  # a shape further inside, such as in a mapping, is left alone


def _fits_array(annotation: type[AbstractArray], value: object, names: Names, arguments: Mapping[str, object]) -> bool:
    kind = get_origin(annotation.array_type) or annotation.array_type
    if not isinstance(value, Tensor | Labels | Mask) or not (isinstance(kind, TypeVar) or isinstance(value, kind)):
        return False
    if isinstance(value, Tensor):
        any_shape = annotation.dtype[annotation.array_type, "..."]  # pyrefly: ignore[unsupported-operation]
        if not isinstance(value, any_shape):
            return False
    return specification.fits(annotation.dim_str, value.shape, names, arguments)


def _tried(annotation: object, value: object, names: Names, arguments: Mapping[str, object]) -> bool:
    """As `fits`, but nothing is bound by what does not fit."""
    trial = names.copy()
    if not fits(annotation, value, trial, arguments):
        return False
    names.become(trial)
    return True


def _computed(expression: str, arguments: Mapping[str, object]) -> object:
    try:
        return eval(expression, {}, dict(arguments))
    except Exception:  # it names another argument, or fails: the check itself will say so
        return None
