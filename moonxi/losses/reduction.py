"""What becomes of many losses: their mean, their sum, or nothing."""

from math import prod
from typing import Literal

from moonxi import shapes
from moonxi.errors import OptionError, ShapeError
from moonxi.traits import Tensor

type Reduction = Literal["mean", "sum", "none"]
"""The mean or the sum of all losses, a scalar; or each of them, in a tensor."""


def reduced[T: Tensor](loss: str, values: T, reduction: Reduction, /) -> T:
    """The values reduced. Raises `ShapeError` for the mean of no values; ``loss`` is the name for messages."""
    match reduction:
        case "mean":
            refuse_empty(loss, shapes.show(values.shape), values)
            return values.mean()
        case "sum":
            return values.sum()
        case "none":
            return values
        case _:
            raise OptionError(f'{loss}: reduction {reduction!r}: it is "mean", "sum" or "none"')


def refuse_empty[T: Tensor](loss: str, operands: str, values: T, /) -> None:
    """Raise `ShapeError` if there is no value: the mean of none is no number."""
    if prod(values.shape) == 0:
        raise ShapeError(f"{loss}: {operands}: the mean over an empty batch")
