"""Predictions of classes: scores of each class, or the class itself."""

import numpy as np
from numpy.typing import NDArray

from moonxi.losses import Logits, LogProbs, Probs
from moonxi.metrics.metric import classes_below, refuse_nan, same_shape
from moonxi.traits import Labels, Tensor

type Scores[T: Tensor] = Logits[T] | LogProbs[T] | Probs[T]
"""Scores of classes along the last axis, of any kind: their order is the same."""
type Predicted[T: Tensor] = Logits[T] | LogProbs[T] | Probs[T] | Labels[T]
"""Scores of classes, or the classes that somebody has chosen."""


def chosen[T: Tensor](
    name: str, predicted: Predicted[T], labels: Labels[T], /
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Predicted and true classes on the host, flat. Of scores the largest is the prediction, of equal ones the first.

    Raises `ShapeError` unless there is one label for each prediction, and of scores `LabelError` for a label without a
    score and `NonFiniteError` for a score that is NaN."""
    if isinstance(predicted, Labels):
        same_shape(name, predicted.shape, labels.shape)
        return flat(predicted), flat(labels)
    scores = predicted.value
    same_shape(name, scores.shape[:-1], labels.shape)
    refuse_nan(name, "a score", scores)
    truth = flat(labels)
    classes_below(name, "label", truth, scores.shape[-1])
    return flat(scores.argmax(-1)), truth


def flat[T: Tensor](labels: Labels[T], /) -> NDArray[np.int64]:
    """Labels on the host, along one axis."""
    return labels.to_host().astype(np.int64, copy=False).reshape(-1)
