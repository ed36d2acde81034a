"""What an operation is given: axes and shapes as the rules leave them, checked labels, and words for the rest."""

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.errors import LabelError
from moonxi.traits import Axes, Shape


@lru_cache(maxsize=4096)
def axes(shape: Shape, numbers: Axes, operation: str) -> tuple[int, ...]:
    """The axes to reduce over, counted from the front."""
    if operation == "max":
        shapes.nothing_to_reduce(operation, shape, numbers)
    return shapes.axes(shape, numbers, operation)


@lru_cache(maxsize=4096)
def order(shape: Shape, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes in another order, counted from the front."""
    shapes.permute(shape, axes)
    return tuple(axis % len(axes) for axis in axes)


@lru_cache(maxsize=4096)
def sizes(shape: Shape, wanted: Shape) -> Shape:
    """The other shape, with the size that is left open."""
    shapes.reshape(shape, wanted)
    rest = prod(size for size in wanted if size != -1)
    return tuple(prod(shape) // rest if size == -1 else size for size in wanted)


def check_labels(labels: NDArray[Any], count: int, operation: str) -> None:
    """Raise `LabelError` unless each label names a class."""
    wrong = np.flatnonzero((labels < 0) | (labels >= count))
    if wrong.size:
        where = ", ".join(map(str, np.unravel_index(wrong[0], labels.shape)))
        raise LabelError(
            f"{operation}: labels {shapes.show(labels.shape)}: label {labels.flat[wrong[0]]} at [{where}] is not a "
            f"class from 0 to {count - 1} ({wrong.size} of {prod(labels.shape)} labels are outside)"
        )


def kind(value: object) -> str:
    """The kind of an array's elements, as NumPy abbreviates it; for anything but an array, one that nobody takes."""
    return value.dtype.kind if isinstance(value, np.ndarray) else "?"


def describe(value: object) -> str:
    """What an unsuitable operand is, in a few words."""
    if isinstance(value, np.ndarray):
        return f"ndarray of {value.dtype} {shapes.show(value.shape)}"
    dtype = getattr(value, "dtype", None)
    return f"{type(value).__name__}[{dtype.__name__}]" if isinstance(dtype, type) else type(value).__name__


def advice(value: object) -> str:
    """What to do with it."""
    if isinstance(value, np.ndarray):
        return "; bring the array in with x.from_host(array)"
    if isinstance(value, np.generic):
        return "; give a Python number, float(value)"
    return ""
