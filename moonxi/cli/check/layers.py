"""Layers and models made for a check: by their ``init``, or from the annotations of their fields."""

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, isabstract, signature
from typing import TypeVar

from moonxi.cli.check.annotations import wants_more
from moonxi.cli.check.samples import NeedsNumbers, Samples, Unmade
from moonxi.cli.check.sizes import Kind
from moonxi.errors import OptionError
from moonxi.nn import Layer, tree
from moonxi.nn.symbolic_checks import fits
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes.specification import Names


def build(cls: type[Layer], name: str, samples: Samples, /) -> Layer:
    """A layer that is part of something else: the sizes that its annotations name are its own affair."""
    prefix = f"{samples.prefix}{name}."
    own = Samples(samples.sizes, build, choice=samples.choice, prefix=prefix, kind=Kind.OPEN)
    return made(cls, own)


def made(cls: type[Layer], samples: Samples) -> Layer:
    """A layer of this class. Raises `Unmade` if neither its ``init`` nor its fields say how."""
    if isabstract(cls):
        raise Unmade(f"{cls.__name__} is abstract")
    if bound := wants_more(cls):
        raise Unmade(f"{cls.__name__} is for a {bound}, and there is none of shapes alone")
    reasons: list[str] = []
    numbers = False
    for make in (_initialised, _from_fields) if callable(getattr(cls, "init", None)) else (_from_fields,):
        try:
            layer = make(cls, samples)
        except Unmade as reason:
            reasons.append(str(reason))
            numbers = numbers or isinstance(reason, NeedsNumbers)
        else:
            samples.sizes.note(size for leaf in tree.walk(layer) for size in leaf.tensor.shape)
            return layer
    kind = NeedsNumbers if numbers else Unmade
    raise kind("; ".join(dict.fromkeys(reasons)))


def class_names(layer: object) -> Names:
    """What the names in the annotations of the fields of a layer stand for."""
    names = Names()
    for one in fields(layer) if is_dataclass(layer) else ():
        fits(one.type, getattr(layer, one.name), names, {"self": layer})
    return names


def _initialised(cls: type[Layer], samples: Samples) -> Layer:
    init: Callable[..., object] = getattr(cls, "init")  # noqa: B009  # it is not part of Layer
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for one in signature(init).parameters.values():
        if one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or one.default is not one.empty:
            continue
        value = ShapeTensor(()) if isinstance(one.annotation, TypeVar) else samples.parameter(one)
        if one.kind is one.KEYWORD_ONLY:
            kwargs[one.name] = value
        else:
            args.append(value)
    try:
        layer = init(*args, **kwargs)
    except OptionError as error:
        raise Unmade(f"{cls.__name__}.init: {error}") from error
    except TypeError as error:
        if samples.sizes.missing:  # such as a kernel size, of which a tuple or a range is made
            raise NeedsNumbers(f"{cls.__name__}.init needs numbers for {', '.join(samples.sizes.missing)}") from error
        raise
    if not isinstance(layer, Layer):
        raise Unmade(f"{cls.__name__}.init makes a {type(layer).__name__}")
    return layer


def _from_fields(cls: type, samples: Samples) -> Layer:
    if not is_dataclass(cls):
        raise Unmade(f"{cls.__name__} is no dataclass")
    values: dict[str, object] = {}
    for one in fields(cls):
        if one.init and one.default is MISSING and one.default_factory is MISSING:
            values[one.name] = samples.make(one.type, one.name)
    layer: object = cls(**values)
    assert isinstance(layer, Layer), "a class of layers makes layers"
    return layer
