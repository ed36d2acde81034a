"""Mean errors of predicted numbers."""

from abc import ABC, abstractmethod
from typing import override

import numpy as np
from numpy.typing import NDArray

from moonxi.metrics.metric import refuse_nan, refuse_nothing, same_shape
from moonxi.traits import Tensor


class MeanError(ABC):
    """Base of the errors that are a mean over all elements of all batches, computed in float64."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._count = 0

    def add[T: Tensor](self, predicted: T, truth: T, /) -> None:
        """Count a batch in; both are of one shape, and a `ShapeError` is raised otherwise.

        Raises `NonFiniteError` for a prediction or a truth that is NaN."""
        name = type(self).__name__
        same_shape(name, predicted.shape, truth.shape)
        refuse_nan(name, "a prediction", predicted)
        refuse_nan(name, "a truth", truth)
        difference = predicted.to_host().astype(np.float64) - truth.to_host()
        self._sum += float(self._error(difference).sum())
        self._count += difference.size

    def value(self) -> float:
        """The mean. Raises `DataError` while nothing was added."""
        refuse_nothing(type(self).__name__, self._count)
        return self._sum / self._count

    @abstractmethod
    def _error(self, difference: NDArray[np.float64], /) -> NDArray[np.float64]: ...


class MeanSquaredError(MeanError):
    """The mean of the squared differences."""

    @override
    def _error(self, difference: NDArray[np.float64], /) -> NDArray[np.float64]:
        return difference * difference


class MeanAbsoluteError(MeanError):
    """The mean of the distances."""

    @override
    def _error(self, difference: NDArray[np.float64], /) -> NDArray[np.float64]:
        return np.abs(difference)
