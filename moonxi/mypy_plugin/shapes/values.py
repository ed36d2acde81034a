"""What is known of a value while a function is run on shapes alone.

Tensors are `ShapeTensor`, sizes `Dim`, and numbers, tuples and None are themselves. Of all else nothing is known.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from moonxi.dims import Dim
from moonxi.shape_tensor import ShapeTensor
from moonxi.shapes import Sizes
from moonxi.traits import Labels, Mask


class Nothing(Enum):
    """Values of which no shape is known."""

    UNKNOWN = "anything"
    TENSOR = "a tensor of some shape"


UNKNOWN: Final = Nothing.UNKNOWN
TENSOR: Final = Nothing.TENSOR


@dataclass(frozen=True)
class Shaped:
    """Something with a shape that is not one of moonxi's tensors, such as an array of NumPy or wrapped scores."""

    shape: Sizes


def shape_of(value: object) -> Sizes | None:
    """The shape of what has one that is known."""
    return value.shape if isinstance(value, ShapeTensor | Labels | Mask | Shaped) else None


def is_known(value: object) -> bool:
    """Whether an operation can be run on the value."""
    if isinstance(value, tuple):
        return all(map(is_known, value))
    return not isinstance(value, Nothing | Shaped)


def has_symbols(value: object) -> bool:
    """Whether the value depends on sizes that are not numbers."""
    return any(map(has_symbols, value)) if isinstance(value, tuple) else isinstance(value, Dim)


def joined(left: object, right: object) -> object:
    """What is known of a value that is one or the other."""
    if left is right:
        return left
    if isinstance(left, ShapeTensor) and isinstance(right, ShapeTensor):
        return left if left.shape == right.shape else TENSOR
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        return tuple(map(joined, left, right))
    if isinstance(left, int | Dim) and type(left) is type(right) and left == right:
        return left
    return UNKNOWN
