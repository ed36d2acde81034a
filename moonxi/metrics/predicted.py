"""Predictions of classes: scores of each class, or the class itself."""

import numpy as np
from numpy.typing import NDArray

from moonxi.losses import Logits, LogProbs, Probs
from moonxi.metrics.metric import same_shape
from moonxi.traits import Labels, Tensor

type Scores[T: Tensor] = Logits[T] | LogProbs[T] | Probs[T]
"""Scores of classes along the last axis, of any kind: their order is the same."""
type Predicted[T: Tensor] = Logits[T] | LogProbs[T] | Probs[T] | Labels[T]
"""Scores of classes, or the classes that somebody has chosen."""


def chosen[T: Tensor](
    name: str, predicted: Predicted[T], labels: Labels[T], /
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Predicted and true classes on the host, flat. Of scores the largest is the prediction, of equal ones the first.

    Raises `ShapeError` unless there is one label for each prediction."""
    classes = predicted if isinstance(predicted, Labels) else predicted.value.argmax(-1)
    same_shape(name, classes.shape, labels.shape)
    return flat(classes), flat(labels)


def flat[T: Tensor](labels: Labels[T], /) -> NDArray[np.int64]:
    """Labels on the host, along one axis."""
    return labels.to_host().astype(np.int64, copy=False).reshape(-1)
