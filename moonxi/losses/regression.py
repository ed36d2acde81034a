"""Losses of numbers against numbers. The shapes must be equal: broadcasting there is nearly always a mistake."""

from math import prod

from moonxi import shapes
from moonxi.errors import ShapeError
from moonxi.traits import Tensor


def mse[T: Tensor](prediction: T, target: T, /) -> T:
    """The mean of the squared differences: a scalar.

    Raises `ShapeError` unless the shapes are equal, and for an empty batch."""
    shapes.equal("mse (prediction and target)", prediction.shape, target.shape)
    if prod(target.shape) == 0:
        raise ShapeError(f"mse: {shapes.show(target.shape)}: the mean over an empty batch")
    return (prediction - target).square().mean()
