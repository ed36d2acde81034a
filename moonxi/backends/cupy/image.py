"""The trait `ImageTensor` on CUDA.

Results lie in memory with the channels last, seen as ``(batch, channels, height, width)``; operations element by
element keep such an order. Images that lie otherwise are rearranged on the way.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Self, Unpack, override

from moonxi import shapes
from moonxi.backends.cupy import convolution, normalisation, pooling
from moonxi.backends.cupy.blas import CudaBlas
from moonxi.backends.cupy.plans import Convolution
from moonxi.backends.cupy.tensor import CudaTensor
from moonxi.dtypes import Floating
from moonxi.shapes import Conv2d, Pool2d
from moonxi.traits import ConvOptions, DerivedImage, Labels, Pair, PoolOptions, Shape


class CudaImage[D: Floating](CudaBlas[D], DerivedImage[CudaTensor[D]]):
    """Convolution by cuDNN where it is installed and has a plan, by cuBLAS otherwise."""

    __slots__ = ()

    @override
    def conv2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[ConvOptions]) -> Self:
        kernel = self._tensor(weight, "conv2d")
        conv = _convolution(shapes.conv2d, (self.data.shape, kernel.shape), options)
        if bias is None:
            return self._made(convolution.convolve(self.space, self.data, kernel, None, conv))
        offset = self._tensor(bias, "conv2d (bias)")
        shapes.per_channel("conv2d (bias)", conv.conv.shape, offset.shape)
        return self._made(convolution.convolve(self.space, self.data, kernel, offset, conv))

    @override
    def conv2d_input_grad(self, weight: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        kernel = self._tensor(weight, "conv2d_input_grad")
        conv = _convolution(shapes.conv2d_input_grad, (self.data.shape, kernel.shape, shape), options)
        return self._made(convolution.input_grad(self.space, self.data, kernel, conv))

    def conv2d_turned(self, dy: Shape, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        """See `moonxi.turned.WithTurned`."""
        conv = _convolution(shapes.conv2d_input_grad, (dy, self.data.shape, shape), options)
        return self._made(convolution.turned(self.space, self.data, conv))

    def conv2d_input_grad_turned(
        self, weight: Self, turned: Self, shape: Shape, /, **options: Unpack[ConvOptions]
    ) -> Self:
        """See `moonxi.turned.WithTurned`."""
        conv = _convolution(shapes.conv2d_input_grad, (self.data.shape, weight.data.shape, shape), options)
        return self._made(convolution.input_grad_turned(self.space, self.data, weight.data, turned.data, conv))

    @override
    def conv2d_weight_grad(self, dy: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        gradient = self._tensor(dy, "conv2d_weight_grad")
        conv = _convolution(shapes.conv2d_weight_grad, (self.data.shape, gradient.shape, shape), options)
        return self._made(convolution.weight_grad(self.space, self.data, gradient, conv))

    @override
    def max_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        pool = _pooling("max_pool2d", (self.data.shape,), kernel, options)
        return self._made(pooling.largest(self.space, self.data, pool))

    @override
    def max_pool2d_indices(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Labels[Self]:
        pool = _pooling("max_pool2d_indices", (self.data.shape,), kernel, options)
        return Labels(type(self)(pooling.first_largest(self.space, self.data, pool), self.space.integers))

    @override
    def max_pool2d_grad(self, dy: Self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        gradient = self._tensor(dy, "max_pool2d_grad")
        pool = _pooling("max_pool2d_grad", (gradient.shape, self.data.shape), kernel, options)
        return self._made(pooling.largest_grad(self.space, self.data, gradient, pool))

    def max_pool2d_grad_of_sum(self, dy: Self, other: Self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        """See `moonxi.pooled_sums.WithPooledSums`."""
        pool = _pooling("max_pool2d_grad", (dy.data.shape, self.data.shape), kernel, options)
        return self._made(pooling.largest_grad(self.space, self.data, dy.data, pool, other.data))

    @override
    def sum_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        pool = _pooling("sum_pool2d", (self.data.shape,), kernel, options)
        return self._made(pooling.total(self.space, self.data, pool))

    @override
    def sum_pool2d_grad(self, shape: Shape, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        pool = _pooling("sum_pool2d_grad", (self.data.shape, shape), kernel, options)
        return self._made(pooling.total_grad(self.space, self.data, pool))

    @override
    def batch_norm(self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> tuple[Self, Self, Self]:
        x, where, made = self.data, self.space, type(self)
        scale, offset = self._tensor(weight, "batch_norm"), self._tensor(bias, "batch_norm")
        _expect_vectors("batch_norm", x.shape, scale.shape, offset.shape)
        y, mean, variance = normalisation.batch_norm(where, x, scale, offset, eps)
        return made(y, where), made(mean, where), made(variance, where)

    @override
    def batch_norm_grad(
        self, dy: Self, weight: Self, mean: Self, variance: Self, /, *, eps: float = 1e-5
    ) -> tuple[Self, Self, Self]:
        operation, x, where, made = "batch_norm_grad", self.data, self.space, type(self)
        gradient, scale = self._tensor(dy, operation), self._tensor(weight, operation)
        means, variances = self._tensor(mean, operation), self._tensor(variance, operation)
        _expect_vectors(operation, x.shape, scale.shape, means.shape, variances.shape)
        shapes.equal("batch_norm_grad (tensor and gradient)", x.shape, gradient.shape)
        dx, dw, db = normalisation.batch_norm_grad(where, x, gradient, scale, means, variances, eps)
        return made(dx, where), made(dw, where), made(db, where)


@lru_cache(maxsize=1024)
def _expect_vectors(operation: str, x: Shape, *vectors: Shape) -> None:
    """Raise `ShapeError` unless the vectors have an element for each channel, and statistics have several values."""
    shapes.per_channel(operation, x, *vectors)
    if operation == "batch_norm":
        shapes.several_values(operation, x)


# The rules of convolution and pooling, and the plans that go with their results, are asked for once for each shape.

type _Rule = Callable[..., Conv2d[int]]
type _Options = tuple[tuple[str, object], ...]


def _convolution(rule: _Rule, operands: tuple[Shape, ...], options: ConvOptions) -> Convolution:
    """The convolution that a rule allows; its errors are the rule's."""
    try:
        return _remembered(rule, operands, tuple(options.items()))
    except TypeError:  # an option that cannot be a key, such as a list, or one that the rule refuses
        return Convolution(rule(*operands, **options))


@lru_cache(maxsize=1024)
def _remembered(rule: _Rule, operands: tuple[Shape, ...], options: _Options) -> Convolution:
    return Convolution(rule(*operands, **dict(options)))


def _pooling(operation: str, operands: tuple[Shape, ...], kernel: Pair, options: PoolOptions) -> Pool2d[int]:
    """The pooling that the rule allows of images; or of the gradient of a result, and images."""
    try:
        return _pooled(operation, operands, kernel, tuple(options.items()))
    except TypeError:  # as above
        return _pooled.__wrapped__(operation, operands, kernel, tuple(options.items()))


@lru_cache(maxsize=1024, typed=True)
def _pooled(operation: str, operands: tuple[Shape, ...], kernel: Pair, options: _Options) -> Pool2d[int]:
    given: dict[str, Any] = dict(options)  # the rule's own options
    *gradient, x = operands
    if gradient:
        return shapes.pool2d_grad(operation, gradient[0], x, kernel, **given)
    return shapes.pool2d(operation, x, kernel, **given)
