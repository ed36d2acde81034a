"""Shape annotations checked where something is symbolic: a size, or an expression of names such as ``2*d``.

jaxtyping compares sizes with ``==``, makes text of what stands in braces, and wants every name of an expression to be
bound before it; here sizes agree as in the rules of operations, and expressions are solved for their names.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from string import Formatter
from types import UnionType
from typing import Annotated, TypeAliasType, Union, get_args, get_origin

from beartype.door import is_bearable
from jaxtyping import AbstractArray, jaxtyped

from moonxi.dims import Dim, Example
from moonxi.nn.annotations import ShapeAnnotation, is_tensor_class, resolved, shapes_in
from moonxi.nn.findings import misfit
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes import specification
from moonxi.shapes.specification import Names

type Claim = tuple[object, object]
"""An annotation, and the value that is to be what it says."""


class SymbolicChecks:
    """The checks of one function, for calls with symbolic sizes and annotations with expressions."""

    def __init__(self, function: Callable[..., object], signature: inspect.Signature) -> None:
        self._signature = signature
        self.every_call = have_expressions(
            [one.annotation for one in signature.parameters.values()] + [signature.return_annotation]
        )
        """Whether the annotations have expressions, so that calls without symbolic sizes are checked here as well."""
        # What the body asks of shapes by isinstance then has nothing to do with the names of whoever calls.
        self._function = jaxtyped(typechecker=None)(function) if self.every_call else function

    def concern(self, layer: object, arguments: Sequence[object]) -> bool:
        """Whether a call has symbolic sizes, in an argument or in what the annotations compute from the layer."""
        if any(map(is_symbolic, arguments)):
            return True
        first = next(iter(self._signature.parameters))
        return any(isinstance(_computed(one, {first: layer}), Dim | Example) for one in self._braces)

    @cached_property
    def _braces(self) -> list[str]:
        parameters = self._signature.parameters.values()
        annotations = (*(one.annotation for one in parameters), self._signature.return_annotation)
        texts = [array.dim_str for one in annotations for array in shapes_in(one)]
        return [expression for text in texts for _, expression, _, _ in Formatter().parse(text) if expression]

    def call(self, where: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """The result of the call, once the arguments fit; raises as the checks of numbers do."""
        bound = self._bound(args, kwargs)
        names = Names()
        claims = list(self._claims(bound))
        place = misfitting([claim for _, claim in claims], names, bound.arguments)
        if place is not None:
            name, (annotation, value) = claims[place]
            raise misfit(f"{where}: argument {name}", annotation, value, bound.arguments, str(names))
        result = self._function(*args, **kwargs)
        self._check_result(where, result, bound, names)
        return result

    def check_result(self, where: str, result: object, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        """Raise if a result that is there already does not fit arguments that do."""
        bound = self._bound(args, kwargs)
        names = Names()
        misfitting([claim for _, claim in self._claims(bound)], names, bound.arguments)
        self._check_result(where, result, bound, names)

    def _check_result(self, where: str, result: object, bound: inspect.BoundArguments, names: Names) -> None:
        expected = self._signature.return_annotation
        if expected is self._signature.empty:
            return
        # What the arguments leave open the result may decide, and be wrong for it.
        claims = [claim for _, claim in self._claims(bound)] if names.open else []
        if misfitting([*claims, (expected, result)], names, bound.arguments) is not None:
            raise misfit(f"{where}: result", expected, result, bound.arguments, str(names))

    def _bound(self, args: Sequence[object], kwargs: Mapping[str, object]) -> inspect.BoundArguments:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def _claims(self, bound: inspect.BoundArguments) -> Iterator[tuple[str, Claim]]:
        """The name of each argument with its annotation and value."""
        for name, value in bound.arguments.items():
            parameter = self._signature.parameters[name]
            if parameter.annotation is not parameter.empty:
                values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
                yield from ((name, (parameter.annotation, one)) for one in values)


def have_expressions(annotations: Iterable[object]) -> bool:
    """Whether an axis in the annotations is an expression of names, and there is nothing that only jaxtyping reads."""
    texts = [array.dim_str for one in annotations for array in shapes_in(one)]
    return all(map(specification.is_readable, texts)) and any(map(specification.has_expressions, texts))


def is_symbolic(value: object) -> bool:
    """Whether a value has a symbolic size: a tensor, or what holds one and has its shape."""
    if isinstance(value, list | tuple):
        return any(map(is_symbolic, value))
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and any(isinstance(size, Dim | Example) for size in shape)


def misfitting(claims: Sequence[Claim], names: Names, arguments: Mapping[str, object]) -> int | None:
    """The place of the first value that is not what its annotation says; None if all are.

    Expressions that are left open are asked again as long as names are found for them."""
    still_open = None
    while True:
        names.open = 0
        for place, (annotation, value) in enumerate(claims):
            if not fits(annotation, value, names, arguments):
                return place
        if not names.open or (still_open is not None and names.open >= still_open):
            return None
        still_open = names.open


def fits(annotation: object, value: object, names: Names, arguments: Mapping[str, object]) -> bool:
    """Whether the value is what the annotation says, shapes included; the names of its sizes are bound then."""
    if isinstance(annotation, type) and issubclass(annotation, AbstractArray):
        return _fits_array(annotation, value, names, arguments)
    if not any(shapes_in(annotation)):
        if not resolved(annotation) or _stands_in(value, get_origin(annotation) or annotation):
            return True
        return is_bearable(value, annotation)  # type: ignore[arg-type]  # to mypy it is no type form
    origin, parts = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, TypeAliasType):
        return fits(annotation.__value__, value, names, arguments)
    if isinstance(origin, TypeAliasType):
        return fits(origin.__value__, value, names, arguments)
    if origin in (Union, UnionType):
        return _fits_one_of(parts, value, names, arguments)
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


def _fits_array(annotation: ShapeAnnotation, value: object, names: Names, arguments: Mapping[str, object]) -> bool:
    kind = ShapeTensor if _stands_in(value, annotation.array_type) else annotation.array_type
    any_shape = annotation.dtype[kind, "..."]  # pyrefly: ignore[unsupported-operation]
    shape = getattr(value, "shape", None)
    return (
        isinstance(value, any_shape)
        and isinstance(shape, tuple)
        and specification.fits(annotation.dim_str, shape, names, arguments)
    )


def _stands_in(value: object, kind: object) -> bool:
    """Whether a shape without data is in the place of a tensor of one class."""
    return isinstance(value, ShapeTensor) and is_tensor_class(kind)


def _fits_one_of(annotations: Sequence[object], value: object, names: Names, arguments: Mapping[str, object]) -> bool:
    """As `fits` of the first that fits; nothing is bound by one that does not, nor by one of several that may."""
    found: Names | None = None
    for one in annotations:
        trial = names.copy()
        if not fits(one, value, trial, arguments):
            continue
        if found is None and trial.open == names.open:
            names.become(trial)
            return True
        if found is not None:
            names.open += 1
            return True
        found = trial
    if found is None:
        return False
    names.become(found)
    return True


def _computed(expression: str, arguments: Mapping[str, object]) -> object:
    try:
        return eval(expression, {}, dict(arguments))
    except Exception:  # it names another argument, or fails: the check itself will say so
        return None
