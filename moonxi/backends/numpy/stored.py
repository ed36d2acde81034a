"""`NumpyStored`: an ndarray as the elements of a tensor, and what every operation on it needs.

Floating-point warnings are NumPy's own and follow ``numpy.errstate``. NumPy checks shapes itself; where it refuses,
the rule in `moonxi.shapes` says why.
"""

from collections.abc import Callable
from typing import Any, Final, Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.dtypes import F32, F64, I64, Bool, DType, Floating, HostArray
from moonxi.errors import OperandError
from moonxi.traits import DerivedTensor, Labels, Mask, Shape, expect_held
from moonxi.traits.foreign import advice, described

_ELEMENTS: dict[np.dtype[Any], type[DType]] = {np.dtype(d.type): d for d in (F32, F64, I64, Bool)}

_SHOWN: Final = 20
"""How many elements are printed all; of more, in more than two axes, the first and the last."""


class NumpyStored[D: Floating](DerivedTensor["NumpyStored[D]"]):
    """A read-only ndarray. Results are made by ``type(self)(array)``, so that a subclass stays itself."""

    __slots__ = ("data",)

    def __init__(self, data: HostArray, /) -> None:
        if data.__class__ is not np.ndarray:
            data = np.asarray(data)  # NumPy gives scalars, not arrays, for results without axes
        data.setflags(write=False)  # half of the time of flags.writeable
        self.data: Final = data

    @override
    def __reduce__(self) -> tuple[Callable[..., Self], tuple[HostArray]]:
        return type(self), (self.data,)

    @override
    def __repr__(self) -> str:
        array = self.data
        if array.ndim > 2 and array.size > _SHOWN:
            array = array.reshape(-1)  # images would fill a page
        values = np.array2string(array, threshold=_SHOWN, edgeitems=2, precision=4, separator=", ")
        return f"{type(self).__name__}[{self.dtype.__name__}] {shapes.show(self.shape)} {values}"

    @property
    @override
    def shape(self) -> Shape:
        return self.data.shape

    @property
    @override
    def dtype(self) -> type[DType]:
        return _ELEMENTS[self.data.dtype]

    # -- operands ------------------------------------------------------------------------------------------------

    def _tensor(self, other: Self, operation: str) -> HostArray:
        """The array of an operand that must be a tensor of this backend and element type."""
        if isinstance(other, NumpyStored) and other.data.dtype == self.data.dtype:
            return other.data
        mine = f"{type(self).__name__}[{self.dtype.__name__}]"
        raise OperandError(f"{operation}: {mine} with {described(other)}: both operands must be {mine}{_advice(other)}")

    def _operand(self, other: Self | float, operation: str) -> HostArray | float:
        """The array of an operand, or a plain float, which leaves the element type alone."""
        return float(other) if isinstance(other, (float, int)) else self._tensor(other, operation)

    def _binary(
        self, function: Callable[[HostArray, HostArray | float], Any], operation: str, other: Self | float
    ) -> Self:
        right: HostArray | float
        if isinstance(other, NumpyStored) and other.data.dtype is self.data.dtype:
            right = other.data
        else:
            right = self._operand(other, operation)
        try:
            return type(self)(function(self.data, right))
        except ValueError:
            shapes.broadcast(operation, self.shape, np.shape(right))
            raise

    def _held(self, held: Labels[Self] | Mask[Self], operation: str) -> NDArray[Any]:
        """The array of labels or of a mask, which must live in this backend."""
        expect_held(operation, held)
        if not isinstance(held.carrier, NumpyStored):
            mine = f"{type(self).__name__}[{self.dtype.__name__}]"
            raise OperandError(
                f"{operation}: {mine} with {type(held).__name__} of {described(held.carrier)}: both must live in "
                "the same tensor class"
            )
        return held.carrier.data


def _advice(value: object) -> str:
    return "; convert with x.from_host(y.to_host())" if isinstance(value, NumpyStored) else advice(value)
