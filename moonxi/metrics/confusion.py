"""Which classes are taken for which."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from moonxi import settings
from moonxi.metrics.metric import classes_below
from moonxi.metrics.predicted import Predicted, chosen
from moonxi.traits import Labels, Tensor


class ConfusionMatrix:
    """How many samples of each class were predicted to be of each. Raises `OptionError` for ``classes`` < 1."""

    def __init__(self, classes: int, /) -> None:
        settings.whole("ConfusionMatrix", 1, classes=classes)
        self.classes: Final = classes
        self._counts: NDArray[np.int64] = np.zeros((classes, classes), np.int64)

    def add[T: Tensor](self, predicted: Predicted[T], labels: Labels[T], /) -> None:
        """Count a batch in: scores ``(..., classes)`` or classes ``(...)``, and labels ``(...)``.

        Raises `ShapeError` where these do not fit, `LabelError` for a prediction or a label that is no class, and
        `NonFiniteError` for a score that is NaN."""
        ours, truth = chosen("ConfusionMatrix", predicted, labels)
        classes_below("ConfusionMatrix", "prediction", ours, self.classes)
        classes_below("ConfusionMatrix", "label", truth, self.classes)
        pairs = np.bincount(truth * self.classes + ours, minlength=self.classes**2)
        self._counts += pairs.reshape(self._counts.shape)

    @property
    def samples(self) -> int:
        """How many samples were added."""
        return int(self._counts.sum())

    def counts(self) -> NDArray[np.int64]:
        """A copy of the counts, ``(classes, classes)``: a row for each true class, a column for each predicted one."""
        return self._counts.copy()
