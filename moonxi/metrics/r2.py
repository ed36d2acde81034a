"""The coefficient of determination."""

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.errors import DataError, ShapeError
from moonxi.metrics.metric import refuse_nan, same_shape
from moonxi.traits import Tensor


class R2:
    """The share of the variance of the truths that the predictions explain: 1 less the ratio of the squared errors to
    the squared distances from the mean.

    Of several outputs the mean. Where the truths are all the same it is 1 for exact predictions and 0 otherwise, as in
    scikit-learn. Means and sums of squares are merged batch by batch (Chan, Golub and LeVeque 1983), in float64."""

    def __init__(self) -> None:
        self._count = 0
        self._mean: NDArray[np.float64] = np.zeros(1)
        self._spread: NDArray[np.float64] = np.zeros(1)
        self._errors: NDArray[np.float64] = np.zeros(1)

    def add[T: Tensor](self, predicted: T, truth: T, /) -> None:
        """Count a batch in: both ``(samples,)`` or both ``(samples, outputs)``; a `ShapeError` is raised otherwise.

        Raises `NonFiniteError` for a prediction or a truth that is NaN."""
        same_shape("R2", predicted.shape, truth.shape)
        if len(truth.shape) not in (1, 2):
            raise ShapeError(f"R2: {shapes.show(truth.shape)}: expected (samples,) or (samples, outputs)")
        refuse_nan("R2", "a prediction", predicted)
        refuse_nan("R2", "a truth", truth)
        count = truth.shape[0]
        if count == 0:
            return
        y = truth.to_host().astype(np.float64).reshape(count, -1)
        if self._count == 0:
            self._mean, self._spread, self._errors = (np.zeros(y.shape[1]) for _ in range(3))
        elif y.shape[1] != self._mean.size:
            raise ShapeError(f"R2: {shapes.show(truth.shape)}: the batches before had {self._mean.size} outputs")
        mean = y.mean(0)
        away = mean - self._mean
        total = self._count + count
        self._spread += ((y - mean) ** 2).sum(0) + away**2 * (self._count * count / total)
        self._mean += away * (count / total)
        self._errors += ((y - predicted.to_host().reshape(count, -1)) ** 2).sum(0)
        self._count = total

    def value(self) -> float:
        """At most 1. Raises `DataError` for fewer than 2 samples."""
        return float(self.per_output().mean())

    def per_output(self) -> NDArray[np.float64]:
        """That of each output, ``(outputs,)``. Raises `DataError` for fewer than 2 samples."""
        if self._count < 2:
            raise DataError(f"R2: {self._count} samples: at least 2 are needed for a variance")
        constant = self._spread == 0.0
        ratio = self._errors / np.where(constant, 1.0, self._spread)
        return np.where(constant, np.where(self._errors == 0.0, 1.0, 0.0), 1.0 - ratio)
