"""How often the right class was predicted."""

from typing import Final

from moonxi import settings, shapes
from moonxi.errors import ShapeError
from moonxi.metrics.metric import classes_below, refuse_nan, refuse_nothing, same_shape
from moonxi.metrics.predicted import Predicted, Scores, chosen, flat
from moonxi.traits import Labels, Tensor


class Accuracy:
    """The share of predictions that are right."""

    def __init__(self) -> None:
        self._right = 0
        self._count = 0

    def add[T: Tensor](self, predicted: Predicted[T], labels: Labels[T], /) -> None:
        """Count a batch in: scores ``(..., classes)`` or classes ``(...)``, and labels ``(...)``.

        Raises `ShapeError` where these do not fit, and of scores `LabelError` for a label without a score and
        `NonFiniteError` for a score that is NaN."""
        ours, truth = chosen("Accuracy", predicted, labels)
        self._right += int((ours == truth).sum())
        self._count += truth.size

    def value(self) -> float:
        """From 0 to 1. Raises `DataError` while nothing was added."""
        refuse_nothing("Accuracy", self._count)
        return self._right / self._count


class TopK:
    """The share of samples whose class is among those with the ``k`` largest scores; of equal ones the first count.

    Raises `OptionError` for ``k`` < 1."""

    def __init__(self, k: int, /) -> None:
        settings.whole("TopK", 1, k=k)
        self.k: Final = k
        self._right = 0
        self._count = 0

    def add[T: Tensor](self, scores: Scores[T], labels: Labels[T], /) -> None:
        """Count a batch in: scores ``(..., classes)``, labels ``(...)``.

        Raises `ShapeError` where these do not fit or there are fewer than ``k`` classes, `LabelError` for a label that
        is no class, and `NonFiniteError` for a score that is NaN."""
        same_shape("TopK", scores.shape[:-1], labels.shape)
        classes = scores.shape[-1]
        if classes < self.k:
            raise ShapeError(f"TopK: scores {shapes.show(scores.shape)}, k={self.k}: there are only {classes} classes")
        truth = flat(labels)
        classes_below("TopK", "label", truth, classes)
        refuse_nan("TopK", "a score", scores.value)
        _, best = scores.value.topk(self.k, -1)
        self._right += int((flat(best).reshape(truth.size, self.k) == truth[:, None]).any(1).sum())
        self._count += truth.size

    def value(self) -> float:
        """From 0 to 1. Raises `DataError` while nothing was added."""
        refuse_nothing("TopK", self._count)
        return self._right / self._count
