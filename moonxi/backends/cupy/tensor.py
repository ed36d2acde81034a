"""The trait `Tensor` on CUDA: its types are here, its kernels are not written yet.

No object of this class can be made (see `moonxi.backends.cupy.array`), so no method here ever runs.
"""

from typing import Self, override

import numpy as np
from numpy.typing import NDArray

from moonxi.backends.cupy.presence import missing
from moonxi.dtypes import DType, Floating, HostArray
from moonxi.key import Key
from moonxi.traits import Axes, DerivedTensor, Index, Labels, Mask, Shape


class CudaTensor[D: Floating](DerivedTensor["CudaTensor[D]"]):
    """A read-only array in device memory."""

    __slots__ = ()

    @property
    @override
    def shape(self) -> Shape:
        raise missing()

    @property
    @override
    def dtype(self) -> type[DType]:
        raise missing()

    @override
    def full(self, shape: Shape, fill: float, /) -> Self:
        raise missing()

    @override
    def from_host(self, array: HostArray | NDArray[np.integer], /) -> Self:
        raise missing()

    @override
    def labels(self, array: NDArray[np.integer], /) -> Labels[Self]:
        raise missing()

    @override
    def uniform(self, shape: Shape, key: Key, /) -> Self:
        raise missing()

    @override
    def normal(self, shape: Shape, key: Key, /) -> Self:
        raise missing()

    @override
    def to_host(self) -> HostArray:
        raise missing()

    @override
    def __add__(self, other: Self | float, /) -> Self:
        raise missing()

    @override
    def __sub__(self, other: Self | float, /) -> Self:
        raise missing()

    @override
    def __mul__(self, other: Self | float, /) -> Self:
        raise missing()

    @override
    def __truediv__(self, other: Self | float, /) -> Self:
        raise missing()

    @override
    def __pow__(self, other: Self | float, /) -> Self:
        raise missing()

    @override
    def __neg__(self) -> Self:
        raise missing()

    @override
    def exp(self) -> Self:
        raise missing()

    @override
    def log(self) -> Self:
        raise missing()

    @override
    def expm1(self) -> Self:
        raise missing()

    @override
    def log1p(self) -> Self:
        raise missing()

    @override
    def sin(self) -> Self:
        raise missing()

    @override
    def cos(self) -> Self:
        raise missing()

    @override
    def erf(self) -> Self:
        raise missing()

    @override
    def tanh(self) -> Self:
        raise missing()

    @override
    def sqrt(self) -> Self:
        raise missing()

    @override
    def floor(self) -> Self:
        raise missing()

    @override
    def maximum(self, other: Self | float, /) -> Self:
        raise missing()

    @override
    def __lt__(self, other: Self | float, /) -> Mask[Self]:
        raise missing()

    @override
    def __le__(self, other: Self | float, /) -> Mask[Self]:
        raise missing()

    @override
    def equal(self, other: Self | float, /) -> Mask[Self]:
        raise missing()

    @override
    def where(self, mask: Mask[Self], other: Self | float, /) -> Self:
        raise missing()

    @override
    def sum(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        raise missing()

    @override
    def max(self, axes: Axes = None, /, *, keepdims: bool = False) -> Self:
        raise missing()

    @override
    def reshape(self, shape: Shape, /) -> Self:
        raise missing()

    @override
    def permute(self, axes: tuple[int, ...], /) -> Self:
        raise missing()

    @override
    def broadcast_to(self, shape: Shape, /) -> Self:
        raise missing()

    @override
    def __getitem__(self, index: Index, /) -> Self:
        raise missing()

    @override
    def put_slice(self, index: Index, shape: Shape, /) -> Self:
        raise missing()

    @override
    def argmax(self, axis: int, /) -> Labels[Self]:
        raise missing()

    @override
    def argsort(self, axis: int, /, *, descending: bool = False) -> Labels[Self]:
        raise missing()

    @override
    def gather(self, labels: Labels[Self], /) -> Self:
        raise missing()

    @override
    def scatter_add(self, labels: Labels[Self], size: int, /) -> Self:
        raise missing()

    @override
    def stop_gradient(self) -> Self:
        raise missing()
