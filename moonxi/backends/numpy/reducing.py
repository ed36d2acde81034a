"""The trait `Tensor`, along axes, on NumPy."""

from collections.abc import Callable
from typing import Self, override

import numpy as np

from moonxi import shapes
from moonxi.backends.numpy.elementwise import NumpyElementwise
from moonxi.dtypes import Floating, HostArray
from moonxi.traits import Axes

# NumPy's own signatures ask for keepdims as a literal.
_sum: Callable[..., HostArray] = np.add.reduce
_prod: Callable[..., HostArray] = np.multiply.reduce
_max: Callable[..., HostArray] = np.maximum.reduce
_min: Callable[..., HostArray] = np.minimum.reduce


class NumpyReducing[D: Floating](NumpyElementwise[D]):
    """Sums and extremes."""

    __slots__ = ()

    def _reduced(self, function: Callable[..., HostArray], operation: str, axes: Axes, keepdims: bool) -> Self:
        if not self.data.ndim:  # NumPy lets axis 0 of a scalar pass
            shapes.axes((), axes, operation)
        try:
            return type(self)(function(self.data, axis=axes, keepdims=keepdims))
        except (TypeError, ValueError):
            shapes.axes(self.shape, axes, operation)
            shapes.nothing_to_reduce(operation, self.shape, axes)
            raise

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._reduced(_sum, "sum", axes, keepdims)

    @override
    def prod(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._reduced(_prod, "prod", axes, keepdims)

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._reduced(_max, "max", axes, keepdims)

    @override
    def min(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        return self._reduced(_min, "min", axes, keepdims)

    @override
    def cumsum(self, axis: int, /) -> Self:
        return type(self)(np.cumsum(self.data, shapes.axis(self.shape, axis, "cumsum")))
