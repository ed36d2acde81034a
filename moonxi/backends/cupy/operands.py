"""What an operation is given: axes and shapes as the rules leave them, checked labels, and words for the rest."""

from functools import lru_cache
from math import prod

from moonxi import shapes
from moonxi.traits import Axes, Shape


def axes(shape: Shape, numbers: Axes, operation: str) -> tuple[int, ...]:
    """The axes to reduce over, counted from the front."""
    try:
        return _axes(shape, numbers, operation)
    except TypeError:  # a list cannot be looked up, and the rule has words for it
        shapes.axes(shape, numbers, operation)
        raise


@lru_cache(maxsize=4096)
def _axes(shape: Shape, numbers: Axes, operation: str) -> tuple[int, ...]:
    if operation == "max":
        shapes.nothing_to_reduce(operation, shape, numbers)
    return shapes.axes(shape, numbers, operation)


@lru_cache(maxsize=4096)
def order(shape: Shape, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes in another order, counted from the front."""
    shapes.permute(shape, axes)
    return tuple(axis % len(axes) for axis in axes)


def sizes(shape: Shape, wanted: Shape) -> Shape:
    """The other shape, with the size that is left open."""
    shapes.is_shape("reshape", wanted)  # first: a list could not be looked up
    return _sizes(shape, wanted)


@lru_cache(maxsize=4096)
def _sizes(shape: Shape, wanted: Shape) -> Shape:
    shapes.reshape(shape, wanted)
    rest = prod(size for size in wanted if size != -1)
    return tuple(prod(shape) // rest if size == -1 else size for size in wanted)
