"""The area under the receiver operating characteristic."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi import settings, shapes
from moonxi.errors import DataError, ShapeError
from moonxi.losses import BinaryLogits, BinaryProbs, Probs
from moonxi.metrics.metric import classes_below, refuse_nan, same_shape
from moonxi.metrics.predicted import Scores, flat
from moonxi.traits import Labels, Tensor


class Auroc:
    """How likely a sample of a class has a larger score for it than one that is not of it; equal scores count half.

    ``Auroc()`` is for two classes and scores of class 1; ``Auroc(classes)`` is the mean over the classes, each against
    all others. All scores are kept, in float64: the curve is exact and not of bins (Hanley and McNeil 1982). Raises
    `OptionError` for ``classes`` < 2."""

    def __init__(self, classes: int | None = None, /) -> None:
        if classes is not None:
            settings.whole("Auroc", 2, classes=classes)
        self.classes: Final = classes
        self._scores: list[NDArray[np.float64]] = []
        self._labels: list[NDArray[np.int64]] = []

    def add[T: Tensor](self, scores: Scores[T] | BinaryLogits[T] | BinaryProbs[T], labels: Labels[T], /) -> None:
        """Count a batch in: binary scores ``(...)``, or scores ``(..., classes)``, and labels ``(...)``.

        Of two classes the scores may also be ``(..., 2)``: logits count by their difference. For several classes give
        `Probs`, as scores of different samples are compared. Raises `ShapeError` where these do not fit, `LabelError`
        for a label that is no class, and `NonFiniteError` for a score that is NaN."""
        values = scores.value.to_host().astype(np.float64)
        classes = self.classes or 2
        if not isinstance(scores, BinaryLogits | BinaryProbs):
            if values.ndim == 0 or values.shape[-1] != classes:
                raise ShapeError(f"Auroc: scores {shapes.show(scores.shape)}: the last axis must be {classes} classes")
            if self.classes is None:
                values = values[..., 1] if isinstance(scores, Probs) else values[..., 1] - values[..., 0]
        elif self.classes is not None:
            raise ShapeError(
                f"Auroc: {type(scores).__name__} {shapes.show(scores.shape)}: scores of {classes} classes are needed"
            )
        same_shape("Auroc", values.shape if self.classes is None else values.shape[:-1], labels.shape)
        truth = flat(labels)
        classes_below("Auroc", "label", truth, classes)
        refuse_nan("Auroc", "a score", scores.value)
        self._scores.append(values.reshape(truth.size, self.classes or 1))
        self._labels.append(truth)

    def value(self) -> float:
        """From 0 to 1; 0.5 is chance. Raises `DataError` unless there are samples of each class."""
        return float(self.per_class().mean())

    def per_class(self) -> NDArray[np.float64]:
        """The area of each class against the others, ``(classes,)``; for two classes that of class 1 alone."""
        if not self._labels:
            raise DataError("Auroc: no samples: add at least one before asking for the value")
        scores, labels = np.concatenate(self._scores), np.concatenate(self._labels)
        asked = (1,) if self.classes is None else range(self.classes)
        return np.array([_area(scores[:, place], labels == one, one) for place, one in enumerate(asked)])


def _area(scores: NDArray[np.float64], positive: NDArray[np.bool_], name: int, /) -> float:
    """By the ranks of the positive ones, equal scores sharing theirs (Mann and Whitney 1947)."""
    ones = int(positive.sum())
    zeros = positive.size - ones
    if not (ones and zeros):
        raise DataError(f"Auroc: {ones} of {positive.size} samples are of class {name}: the area needs both kinds")
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    # Twice the mean rank, so that all are integers and the sum is exact.
    ranks = (2 * np.cumsum(counts) - counts + 1)[place]
    return (int(ranks[positive].sum()) - ones * (ones + 1)) / (2 * ones * zeros)
