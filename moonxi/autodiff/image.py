"""`ImageGrad[T]`: the trait `ImageTensor` under differentiation.

The vjps of convolution, its input and its weight gradient are each other. Those of max pooling and batch
normalisation are operations of ``T`` too, in closed form, which at the next level are differentiated as derived.
"""

from math import prod
from typing import TYPE_CHECKING, Self, Unpack, override

from moonxi.autodiff import levels
from moonxi.autodiff.blas import BlasGrad
from moonxi.autodiff.node import Node
from moonxi.autodiff.pullback import Vjp
from moonxi.autodiff.together import Together
from moonxi.traits import ConvOptions, DerivedImage, ImageModelTensor, Labels, Pair, PoolOptions, Shape, Tensor


class ImageGrad[T: ImageModelTensor](BlasGrad[T], DerivedImage[Node[T]], ImageModelTensor):
    """A tensor under differentiation whose ``T`` is a tensor of images."""

    __slots__ = ()

    def _result(self, value: T, *operands: "tuple[ImageGrad[T], Vjp[T]]") -> Self:
        """A result, of which those operands are parents that take part."""
        return type(self)(value, tuple([pair for pair in operands if pair[0].parents is not None]) or None)

    def _level(self, other: Self, operation: str) -> T:
        """The value of an operand, which must be at this level."""
        if not isinstance(other, ImageGrad):
            raise levels.differ(operation, self, other)
        return other.value

    @override
    def conv2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[ConvOptions]) -> Self:
        x, w = self.value, self._level(weight, "conv2d")
        of_images = self, lambda g: g.conv2d_input_grad(w, x.shape, **options)
        of_weight = weight, lambda g: x.conv2d_weight_grad(g, w.shape, **options)
        if bias is None:
            return self._result(x.conv2d(w, **options), of_images, of_weight)
        y = x.conv2d(w, self._level(bias, "conv2d (bias)"), **options)
        return self._result(y, of_images, of_weight, (bias, lambda g: g.sum((0, 2, 3))))

    @override
    def conv2d_input_grad(self, weight: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        dy, w = self.value, self._level(weight, "conv2d_input_grad")
        return self._result(
            dy.conv2d_input_grad(w, shape, **options),
            (self, lambda g: g.conv2d(w, **options)),
            (weight, lambda g: g.conv2d_weight_grad(dy, w.shape, **options)),
        )

    @override
    def conv2d_weight_grad(self, dy: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        x, gradient = self.value, self._level(dy, "conv2d_weight_grad")
        return self._result(
            x.conv2d_weight_grad(gradient, shape, **options),
            (self, lambda g: gradient.conv2d_input_grad(g, x.shape, **options)),
            (dy, lambda g: x.conv2d(g, **options)),
        )

    @override
    def max_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        x = self.value
        return self._unary(x.max_pool2d(kernel, **options), lambda g: x.max_pool2d_grad(g, kernel, **options))

    @override
    def max_pool2d_indices(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Labels[Self]:
        return Labels(type(self)(self.value.max_pool2d_indices(kernel, **options).carrier))

    @override
    def sum_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        x = self.value
        return self._unary(x.sum_pool2d(kernel, **options), lambda g: g.sum_pool2d_grad(x.shape, kernel, **options))

    @override
    def sum_pool2d_grad(self, shape: Shape, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        dx = self.value.sum_pool2d_grad(shape, kernel, **options)
        return self._unary(dx, lambda g: g.sum_pool2d(kernel, **options))

    @override
    def batch_norm(self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> tuple[Self, Self, Self]:
        x, w = self.value, self._level(weight, "batch_norm")
        y, mean, variance = x.batch_norm(w, self._level(bias, "batch_norm"), eps=eps)
        together = Together(lambda g: x.batch_norm_grad(g, w, mean, variance, eps=eps))
        result = self._result(
            y,
            (self, lambda g: together.of(g, 0)),
            (weight, lambda g: together.of(g, 1)),
            (bias, lambda g: together.of(g, 2)),
        )
        return (
            result,
            self._unary(mean, lambda g: _shared(g, x, 1.0).broadcast_to(x.shape)),
            self._unary(variance, lambda g: (x - _of_channels(mean, x)) * _shared(g, x, 2.0)),
        )


def _of_channels[T: Tensor](vector: T, x: T) -> T:
    """A number for each channel of ``(n, c, ...)``, in a shape that broadcasts to it."""
    return vector.reshape((x.shape[1], *(1 for _ in x.shape[2:])))


def _shared[T: Tensor](gradient: T, x: T, factor: float) -> T:
    """The gradient of a mean of each channel as every element of the channel gets it, times a factor."""
    return _of_channels(gradient * (factor * (x.shape[1] / prod(x.shape))), x)


ImageModelTensor.register(ImageGrad)
if TYPE_CHECKING:

    def _conforms[T: ImageModelTensor](_: type[ImageGrad[T]]) -> type[ImageModelTensor]:
        return ImageGrad[T]
