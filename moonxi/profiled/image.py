"""`ImageProfiled[T]`: the trait `ImageTensor`, timed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Self, Unpack, override

from moonxi.profiled.blas import BlasProfiled
from moonxi.profiled.timed import Timed
from moonxi.profiled.work import Work, moved, multiply_adds, size
from moonxi.traits import (
    ConvOptions,
    DerivedImage,
    Edges,
    ImageModelTensor,
    Labels,
    MeanPoolOptions,
    Pair,
    PoolOptions,
    Shape,
    TransposeOptions,
)


class ImageProfiled[T: ImageModelTensor](BlasProfiled[T], DerivedImage[Timed[T]]):
    """A timed tensor whose ``T`` is a tensor of images."""

    __slots__ = ()

    def _timed_three(
        self, operation: str, compute: Callable[[], tuple[T, T, T]], *others: T
    ) -> tuple[Self, Self, Self]:
        def work(results: tuple[T, T, T]) -> Work:
            return Work(moved(self.value, *others, *results))

        first, second, third = self.profile.measure(operation, compute, work)
        cls, profile = type(self), self.profile
        return cls(first, profile), cls(second, profile), cls(third, profile)

    # -- convolution -------------------------------------------------------------------------------------------

    @override
    def conv2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[ConvOptions]) -> Self:
        w = self._tensor(weight, "conv2d")

        def flops(result: T) -> int:
            return multiply_adds(size(result.shape), size(w.shape[1:]))

        if bias is None:
            return self.timed("conv2d", lambda: self.value.conv2d(w, **options), w, flops=flops)
        b = self._tensor(bias, "conv2d (bias)")
        return self.timed("conv2d", lambda: self.value.conv2d(w, b, **options), w, b, flops=flops)

    @override
    def conv2d_input_grad(self, weight: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        w = self._tensor(weight, "conv2d_input_grad")
        return self.timed(
            "conv2d_input_grad",
            lambda: self.value.conv2d_input_grad(w, shape, **options),
            w,
            flops=lambda _: multiply_adds(size(self.shape), size(w.shape[1:])),
        )

    @override
    def conv2d_weight_grad(self, dy: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        gradient = self._tensor(dy, "conv2d_weight_grad")
        return self.timed(
            "conv2d_weight_grad",
            lambda: self.value.conv2d_weight_grad(gradient, shape, **options),
            gradient,
            flops=lambda _: multiply_adds(size(gradient.shape), size(shape[1:])),
        )

    @override
    def conv_transpose2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[TransposeOptions]) -> Self:
        w = self._tensor(weight, "conv_transpose2d")
        b = None if bias is None else self._tensor(bias, "conv_transpose2d (bias)")
        return self.timed(
            "conv_transpose2d",
            lambda: self.value.conv_transpose2d(w, b, **options),
            *((w,) if b is None else (w, b)),
            flops=lambda _: multiply_adds(size(self.shape), size(w.shape[1:])),
        )

    # -- pooling -------------------------------------------------------------------------------------------------

    @override
    def max_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        return self.timed("max_pool2d", lambda: self.value.max_pool2d(kernel, **options))

    @override
    def max_pool2d_indices(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Labels[Self]:
        return self._timed_labels("max_pool2d_indices", lambda: self.value.max_pool2d_indices(kernel, **options))

    @override
    def max_pool2d_grad(self, dy: Self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        gradient = self._tensor(dy, "max_pool2d_grad")
        return self.timed("max_pool2d_grad", lambda: self.value.max_pool2d_grad(gradient, kernel, **options), gradient)

    @override
    def sum_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        return self.timed("sum_pool2d", lambda: self.value.sum_pool2d(kernel, **options))

    @override
    def sum_pool2d_grad(self, shape: Shape, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        return self.timed("sum_pool2d_grad", lambda: self.value.sum_pool2d_grad(shape, kernel, **options))

    @override
    def avg_pool2d(self, kernel: Pair, /, **options: Unpack[MeanPoolOptions]) -> Self:
        return self.timed("avg_pool2d", lambda: self.value.avg_pool2d(kernel, **options))

    @override
    def adaptive_avg_pool2d(self, size: Pair, /) -> Self:
        return self.timed("adaptive_avg_pool2d", lambda: self.value.adaptive_avg_pool2d(size))

    # -- size ----------------------------------------------------------------------------------------------------

    @override
    def upsample_nearest2d(self, size: Pair, /) -> Self:
        return self.timed("upsample_nearest2d", lambda: self.value.upsample_nearest2d(size))

    @override
    def upsample_bilinear2d(self, size: Pair, /, *, align_corners: bool = False) -> Self:
        return self.timed(
            "upsample_bilinear2d", lambda: self.value.upsample_bilinear2d(size, align_corners=align_corners)
        )

    @override
    def pad2d(
        self,
        padding: Edges,
        /,
        *,
        mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
        fill: float = 0.0,
    ) -> Self:
        return self.timed("pad2d", lambda: self.value.pad2d(padding, mode=mode, fill=fill))

    # -- normalisation -------------------------------------------------------------------------------------------

    @override
    def batch_norm(self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> tuple[Self, Self, Self]:
        w, b = self._tensor(weight, "batch_norm"), self._tensor(bias, "batch_norm")
        return self._timed_three("batch_norm", lambda: self.value.batch_norm(w, b, eps=eps), w, b)

    @override
    def batch_norm_grad(
        self, dy: Self, weight: Self, mean: Self, variance: Self, /, *, eps: float = 1e-5
    ) -> tuple[Self, Self, Self]:
        g, w, m, v = (self._tensor(one, "batch_norm_grad") for one in (dy, weight, mean, variance))
        return self._timed_three("batch_norm_grad", lambda: self.value.batch_norm_grad(g, w, m, v, eps=eps), g, w, m, v)

    @override
    def batch_norm_with(self, mean: Self, variance: Self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> Self:
        m, v, w, b = (self._tensor(one, "batch_norm_with") for one in (mean, variance, weight, bias))
        return self.timed("batch_norm_with", lambda: self.value.batch_norm_with(m, v, w, b, eps=eps), m, v, w, b)

    @override
    def group_norm(self, groups: int, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> Self:
        w, b = self._tensor(weight, "group_norm"), self._tensor(bias, "group_norm")
        return self.timed("group_norm", lambda: self.value.group_norm(groups, w, b, eps=eps), w, b)


ImageModelTensor.register(ImageProfiled)
if TYPE_CHECKING:

    def _conforms[T: ImageModelTensor](_: type[ImageProfiled[T]]) -> type[ImageModelTensor]:
        return ImageProfiled[T]
