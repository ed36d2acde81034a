"""Values made from annotations, so that a function can be called: tensors without data, and what else it takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from inspect import Parameter
from math import prod
from types import NoneType, UnionType
from typing import Annotated, Literal, Protocol, TypeAliasType, TypeVar, Union, get_args, get_origin

import numpy as np

from moonxi.cli.check.annotations import flattened, is_left_to_default, spelled, type_arguments
from moonxi.cli.check.sizes import Kind, Sizes
from moonxi.dims import Size
from moonxi.dtypes import BF16, F16, F32, F64, I64, Bool, DType
from moonxi.key import Key
from moonxi.nn import Eval, Layer, State, Train
from moonxi.nn.annotations import ShapeAnnotation, is_tensor_class, shape_annotation
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes import Sizes as Shape
from moonxi.shapes import specification
from moonxi.shapes.specification import Names
from moonxi.traits import Labels, Mask

_DTYPES: tuple[type[DType], ...] = (F32, F64, F16, BF16, I64, Bool)
_HOST_DTYPES = ("f4", "f8", "i8", "u1", "?", "i4", "f2", "i2", "i1", "u2", "u4", "u8", "c8", "c16")
_MOST_ELEMENTS = 1 << 24


class Unmade(Exception):
    """No value can be made; the text says of what, and why."""


class NeedsNumbers(Unmade):
    """No value can be made from symbols."""


class Guess(Protocol):
    """Shapes for tensors and labels whose annotations state none."""

    @property
    def unsure(self) -> bool:
        """Whether more was asked for than is known."""
        ...

    def tensor(self) -> Shape | None: ...
    def labels(self) -> Shape | None: ...


class NoGuess:
    """There is nothing to go by."""

    unsure = False

    def tensor(self) -> Shape | None:
        return None

    def labels(self) -> Shape | None:
        return None


class Builder(Protocol):
    """Makes a layer of a class."""

    def __call__(self, cls: type[Layer], name: str, samples: "Samples", /) -> Layer: ...


@dataclass
class Samples:
    """Makes the arguments of one call. One name of a size is one size in all of them."""

    sizes: Sizes
    build: Builder
    leading: frozenset[str] = frozenset()
    """The names of first axes."""
    choice: int = 0
    """Which of the alternatives is taken where there are some: of `Train` and `Eval`, of a tensor and None."""
    guess: Guess = field(default_factory=NoGuess)
    names: Names = field(default_factory=Names)
    arguments: dict[str, object] = field(default_factory=dict)
    """What was made so far, by name: braces in annotations are computed from it."""
    prefix: str = ""
    """Of the names of sizes: those of one layer have nothing to do with those of another."""
    stand_ins: dict[str, str] = field(default_factory=dict)
    """The arguments in whose place there is only a shape, though they are of one tensor class, which is named."""
    guessed: list[str] = field(default_factory=list)
    """The arguments whose shape is that of a target, for all that is known."""
    examples: list[str] = field(default_factory=list)
    """The arguments that are arrays of the host, with made-up elements."""
    kind: Kind = Kind.NAMED
    integers: Kind = Kind.OPEN

    def parameter(self, one: Parameter) -> object:
        """An argument for a parameter; what has a default is left to it, but for tensors and the mode."""
        if is_left_to_default(one):
            return one.default
        if one.annotation is one.empty:
            raise Unmade(f"{one.name} has no annotation")
        try:
            value = self.make(one.annotation, one.name)
        except RecursionError:
            raise Unmade(f"no value can be made for {one.name}, whose type has itself as a part") from None
        except Unmade:
            if one.default is one.empty:
                raise
            return one.default
        self.arguments[one.name] = value
        return value

    def make(self, annotation: object, name: str, types: Mapping[TypeVar, object] | None = None) -> object:
        """A value of what is annotated; ``types`` are the arguments of the generic class that it stands in."""
        types = types or {}
        array = shape_annotation(annotation)
        if array is not None:
            return self._array(array, name)
        if isinstance(annotation, TypeVar):
            if annotation in types:
                return self.make(types[annotation], name)
            return self._tensor(name)
        if isinstance(annotation, TypeAliasType):
            return self.make(annotation.__value__, name, types)
        if isinstance(annotation, type) and not get_args(annotation):
            return self._plain(annotation, name, ())
        origin, parts = get_origin(annotation), get_args(annotation)
        if isinstance(origin, TypeAliasType):
            return self.make(origin.__value__, name, type_arguments(origin, parts))
        if origin in (Union, UnionType):
            members = flattened(annotation)
            return self.make(members[min(self.choice, len(members) - 1)], name, types)
        if origin is Annotated:
            return self.make(parts[0], name, types)
        if origin is Literal:
            return parts[min(self.choice, len(parts) - 1)]
        if annotation is None:
            return None
        parts = tuple(types.get(one, one) if isinstance(one, TypeVar) else one for one in parts)
        if origin is tuple and parts[-1:] != (...,):
            return tuple(self.make(one, f"{name}[{place}]", types) for place, one in enumerate(parts))
        if isinstance(origin, type) and issubclass(origin, Sequence):
            both = [self.make(parts[0], f"{name}[{place}]", types) for place in (0, 1)]
            return tuple(both) if origin is tuple else both
        if isinstance(origin, type):
            return self._plain(origin, name, parts)
        raise Unmade(f"no value can be made for {name}: {spelled(annotation)}")

    def _plain(self, cls: type, name: str, parts: Sequence[object]) -> object:
        if cls is Labels:
            return Labels(self._tensor(name, labels=True))
        if cls is Mask:
            raise Unmade(f"{name} has no shape in its annotation")
        if cls is Key:
            return Key(0)
        if cls is Train:
            return Train(Key(0))
        if cls is Eval:
            return Eval()
        if cls is NoneType:
            return None
        if cls is bool:
            return False
        if cls is int:
            return self._integer(name)
        if cls is float:
            return 0.5
        if issubclass(cls, Enum):
            return next(iter(cls))
        if issubclass(cls, Layer):
            return self.build(cls, name, self)
        if is_tensor_class(cls):
            value = self._tensor(name)
            self.stand_ins[name] = cls.__name__
            return value
        if is_dataclass(cls):
            return self._record(cls, name, parts)
        raise Unmade(f"no value can be made for {name}: {cls.__name__}")

    def _record(self, cls: type, name: str, parts: Sequence[object]) -> object:
        """A dataclass, from the annotations of its fields."""
        types = type_arguments(cls, parts)
        values: dict[str, object] = {}
        for one in fields(cls):
            if not one.init or one.default is not MISSING or one.default_factory is not MISSING:
                continue
            path = one.name if cls is State else f"{name}.{one.name}"
            values[one.name] = self.make(one.type, path, types)
        return cls(**values)

    def _array(self, annotation: ShapeAnnotation, name: str) -> object:
        shape = specification.sizes_for(
            annotation.dim_str,
            self.names,
            self.arguments,
            size=self._size,
            anonymous=lambda place: self.sizes.size(f"{self.prefix}{name}{place}", self.kind),
        )
        origin = get_origin(annotation.array_type) or annotation.array_type
        if origin is Labels:
            return Labels(ShapeTensor(shape, I64))
        if origin is Mask:
            return Mask(ShapeTensor(shape, Bool))
        if is_tensor_class(origin):
            self.stand_ins[name] = origin.__name__
        kind = ShapeTensor if is_tensor_class(origin) else annotation.array_type
        any_shape = annotation.dtype[kind, "..."]  # pyrefly: ignore[unsupported-operation]
        for dtype in _DTYPES:
            tensor = ShapeTensor(shape, dtype)
            if isinstance(tensor, any_shape):
                return tensor
        if origin is np.ndarray:
            return self._host_array(shape, lambda array: isinstance(array, any_shape), name)
        raise Unmade(f"{name} is a {getattr(origin, '__name__', origin)}: only tensors and arrays of NumPy can be made")

    def _host_array(self, shape: Shape, fits: Callable[[object], bool], name: str) -> object:
        numbers = [size for size in shape if isinstance(size, int)]
        if len(numbers) < len(shape):
            raise NeedsNumbers(f"{name} is an array of the host")
        if prod(numbers) > _MOST_ELEMENTS:
            raise NeedsNumbers(f"{name} would have {prod(numbers)} elements")
        self.examples.append(name)
        for dtype in _HOST_DTYPES:
            array = np.ones([int(size) for size in numbers], dtype)
            if fits(array):
                return array
        raise Unmade(f"no array can be made for {name}")

    def _tensor(self, name: str, *, labels: bool = False) -> ShapeTensor:
        if name == "like":
            return ShapeTensor(())
        shape = self.guess.labels() if labels else self.guess.tensor()
        if self.guess.unsure and not labels and "." not in name:
            self.guessed.append(name)
        if shape is None:
            raise Unmade(f"{name} has no shape in its annotation")
        return ShapeTensor(shape, I64 if labels else F32)

    def _integer(self, name: str) -> Size:
        """A number; it is the size of an axis if it has its name."""
        if name not in self.names.sizes:
            self.names.sizes[name] = self.sizes.size(self.prefix + name, self.integers)
        return self.names.sizes[name]

    def _size(self, name: str) -> Size:
        return self.sizes.size(self.prefix + name, Kind.FREE if name in self.leading else self.kind)
