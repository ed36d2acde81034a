"""Precision, recall and their harmonic mean F1, of each class and of all together."""

from abc import ABC, abstractmethod
from typing import Final, Literal, override

import numpy as np
from numpy.typing import NDArray

from moonxi.errors import OptionError
from moonxi.metrics.confusion import ConfusionMatrix
from moonxi.metrics.metric import refuse_nothing
from moonxi.metrics.predicted import Predicted
from moonxi.traits import Labels, Tensor

type ClassAverage = Literal["macro", "micro"]
"""The mean over the classes, each counting the same; or one score over all samples, each counting the same."""

type _Counts = NDArray[np.int64]


class ClassScore(ABC):
    """Base of scores that are a quotient of counts.

    A quotient with nothing to divide by is 0, and so counts in the mean: all as scikit-learn with
    ``labels=range(classes), zero_division=0``. Raises `OptionError` for ``classes`` < 1 and another ``average``."""

    def __init__(self, classes: int, /, *, average: ClassAverage = "macro") -> None:
        if average not in ("macro", "micro"):
            raise OptionError(f'{type(self).__name__}: average={average!r}: it is "macro" or "micro"')
        self.average: Final = average
        self._matrix = ConfusionMatrix(classes)

    def add[T: Tensor](self, predicted: Predicted[T], labels: Labels[T], /) -> None:
        """Count a batch in, as `ConfusionMatrix.add` does."""
        self._matrix.add(predicted, labels)

    def value(self) -> float:
        """The average, from 0 to 1. Raises `DataError` while nothing was added."""
        if self.average == "macro":
            return float(self.per_class().mean())
        refuse_nothing(type(self).__name__, self._matrix.samples)
        right, ours, truth = self._totals()
        return float(self._quotient(right.sum(keepdims=True), ours.sum(keepdims=True), truth.sum(keepdims=True))[0])

    def per_class(self) -> NDArray[np.float64]:
        """The score of each class, ``(classes,)``. Raises `DataError` while nothing was added."""
        refuse_nothing(type(self).__name__, self._matrix.samples)
        return self._quotient(*self._totals())

    def _totals(self) -> tuple[_Counts, _Counts, _Counts]:
        """For each class how often it was predicted rightly, how often at all, and how often it was true."""
        counts = self._matrix.counts()
        return counts.diagonal(), counts.sum(0), counts.sum(1)

    @abstractmethod
    def _quotient(self, right: _Counts, ours: _Counts, truth: _Counts, /) -> NDArray[np.float64]: ...


class Precision(ClassScore):
    """Of the samples predicted to be of a class, the share that are."""

    @override
    def _quotient(self, right: _Counts, ours: _Counts, truth: _Counts, /) -> NDArray[np.float64]:
        return _divided(right, ours)


class Recall(ClassScore):
    """Of the samples of a class, the share that are predicted to be."""

    @override
    def _quotient(self, right: _Counts, ours: _Counts, truth: _Counts, /) -> NDArray[np.float64]:
        return _divided(right, truth)


class F1(ClassScore):
    """The harmonic mean of precision and recall: twice what is right, over all predicted and all true."""

    @override
    def _quotient(self, right: _Counts, ours: _Counts, truth: _Counts, /) -> NDArray[np.float64]:
        return _divided(2 * right, ours + truth)


def _divided(part: _Counts, whole: _Counts, /) -> NDArray[np.float64]:
    return part / np.maximum(whole, 1)  # a part of nothing is 0
