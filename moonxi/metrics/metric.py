"""`Metric`: what all metrics have in common, and what they ask of what they are told."""

from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.errors import DataError, LabelError, NonFiniteError, ShapeError
from moonxi.traits import Shape, Tensor


class Metric(Protocol):
    """One number about everything that was added so far."""

    def value(self) -> float:
        """The number. Raises `DataError` while nothing was added."""
        ...


def refuse_nothing(name: str, count: int, /) -> None:
    """Raise `DataError` if nothing was added: a metric of nothing is no number."""
    if count == 0:
        raise DataError(f"{name}: no samples: add at least one before asking for the value")


def same_shape(name: str, predictions: Shape, truths: Shape, /) -> None:
    """Raise `ShapeError` unless there is one truth for each prediction, without any broadcasting."""
    if predictions != truths:
        raise ShapeError(
            f"{name}: predictions {shapes.show(predictions)}, truths {shapes.show(truths)}: there must be one truth "
            "for each prediction"
        )


def refuse_nan[T: Tensor](name: str, what: str, values: T, /) -> None:
    """Raise `NonFiniteError` if an element is NaN, of which nothing can be said; found where the tensor lives."""
    if prod(values.shape) and values.not_equal(values).to_tensor(values).max().item() > 0.0:
        raise NonFiniteError(f"{name}: {what} is NaN: look at the model, and at the data")


def classes_below(name: str, what: str, found: NDArray[np.integer], classes: int, /) -> None:
    """Raise `LabelError` for a class outside ``0 .. classes-1``."""
    outside = found[(found < 0) | (found >= classes)]
    if outside.size:
        raise LabelError(f"{name}: {what} {outside.flat[0]}: the classes are 0 to {classes - 1}")
