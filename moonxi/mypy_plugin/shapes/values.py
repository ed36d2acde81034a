"""What is known of a value while a function is run on shapes alone.

Tensors are `ShapeTensor`, sizes `Dim`, and numbers, tuples, None and classes are themselves. A list is a tuple here, as
long as nothing changes it. Of all else nothing is known.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from mypy.nodes import FuncDef, LambdaExpr, TypeInfo

from moonxi.dims import Dim
from moonxi.losses import BinaryLogits, BinaryProbs, Logits, LogProbs, Probs
from moonxi.mypy_plugin.shapes.equations import either, fresh, is_either
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes import Sizes
from moonxi.traits import Labels, Mask


class Nothing(Enum):
    """Values of which no shape is known."""

    UNKNOWN = "anything"
    TENSOR = "a tensor of some shape"


UNKNOWN: Final = Nothing.UNKNOWN
TENSOR: Final = Nothing.TENSOR


type Scores = (
    BinaryLogits[ShapeTensor]
    | BinaryProbs[ShapeTensor]
    | Logits[ShapeTensor]
    | LogProbs[ShapeTensor]
    | Probs[ShapeTensor]
)
SCORES: Final = (BinaryLogits, BinaryProbs, Logits, LogProbs, Probs)
"""Classes that hold a tensor and say what its numbers mean; here they hold a `ShapeTensor`."""


def scores_named(fullname: str) -> Callable[[ShapeTensor], Scores] | None:
    """The class of scores of that name."""
    return next((one for one in SCORES if f"{one.__module__}.{one.__name__}" == fullname), None)


@dataclass(frozen=True)
class Shaped:
    """Something with a shape that is not one of moonxi's, such as an array of NumPy."""

    shape: Sizes


class Each:
    """A sequence of which nobody knows the length; ``item`` makes what one of its elements is."""

    def __init__(self, item: Callable[[], object]) -> None:
        self.item = item


class Grown(Each):
    """A list to which elements are added: an element of it is one of those."""

    def __init__(self, elements: Iterable[object]) -> None:
        super().__init__(lambda: _another(self._element))
        self._element: object = UNKNOWN
        self._is_empty = True
        for one in elements:
            self.add(one)

    def add(self, element: object) -> None:
        """One more."""
        self._element = element if self._is_empty else joined(self._element, element)
        self._is_empty = False


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method whose body is at hand; ``outside`` are the names around it."""

    node: FuncDef | LambdaExpr
    receiver: object = None
    outside: Mapping[str, object] = field(default_factory=dict)


def _another(value: object) -> object:
    """A value that is like this one, but for what differs from one to the next."""
    if isinstance(value, ShapeTensor):
        return ShapeTensor(tuple(fresh() if is_either(size) else size for size in value.shape), value.dtype)
    return tuple(map(_another, value)) if isinstance(value, tuple) else value


def shape_of(value: object) -> Sizes | None:
    """The shape of what has one that is known."""
    return value.shape if isinstance(value, (ShapeTensor, Labels, Mask, Shaped, *SCORES)) else None


def is_known(value: object) -> bool:
    """Whether an operation can be run on the value."""
    if isinstance(value, tuple):
        return all(map(is_known, value))
    return not isinstance(value, Nothing | Shaped | Each | Function | TypeInfo)


def has_symbols(value: object) -> bool:
    """Whether the value depends on sizes that are not numbers."""
    return any(map(has_symbols, value)) if isinstance(value, tuple) else isinstance(value, Dim)


def joined(left: object, right: object) -> object:
    """What is known of a value that is one or the other."""
    if left is right:
        return left
    if isinstance(left, ShapeTensor) and isinstance(right, ShapeTensor):
        if left.shape == right.shape:
            return left
        if len(left.shape) != len(right.shape):
            return TENSOR
        shape = tuple(map(either, left.shape, right.shape))
        return left if shape == left.shape else ShapeTensor(shape, left.dtype)
    if all(one is TENSOR or isinstance(one, ShapeTensor) for one in (left, right)):
        return TENSOR
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        return tuple(map(joined, left, right))
    if isinstance(left, int | Dim) and type(left) is type(right) and left == right:
        return left
    return UNKNOWN
