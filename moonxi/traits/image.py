"""The trait `ImageTensor`: what convolutional networks need of their tensor.

Images are ``(batch, channels, height, width)`` in every interpreter; how they lie in memory is its own affair.
"""

# A docstring is the whole body of a Protocol's method; pyright wants `...` besides.
# pyright: reportReturnType=false

from typing import Literal, Protocol, Self, Unpack, runtime_checkable

from moonxi.shapes import ConvOptions, Edges, Pair, PoolOptions
from moonxi.traits.labels import Carrier, Labels
from moonxi.traits.notation import Shape


@runtime_checkable
class ImageTensor(Carrier, Protocol):
    """A tensor of images. Options are keywords; where rows and columns differ they are a pair ``(rows, columns)``."""

    __slots__ = ()

    # -- convolution -------------------------------------------------------------------------------------------

    def conv2d(self, weight: Self, bias: Self | None = None, /, **options: Unpack[ConvOptions]) -> Self:
        """The convolution: each output is the sum of the window under it, weighted, plus the bias of its channel.

        ``(n, c, h, w)`` by a weight ``(o, c / groups, kh, kw)`` and a bias ``(o,)`` gives ``(n, o, ...)``; a size
        becomes ``(size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1``. The kernel is not flipped."""

    def conv2d_input_grad(self, weight: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        """The adjoint of `conv2d` for images of ``shape``: their gradient, this one being that of the result."""

    def conv2d_weight_grad(self, dy: Self, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        """The adjoint of `conv2d` for a weight of ``shape``: its gradient, ``dy`` being that of the result."""

    def conv_transpose2d(
        self,
        weight: Self,
        bias: Self | None = None,
        /,
        *,
        stride: Pair = 1,
        padding: Pair = 0,
        output_padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
    ) -> Self:
        """The transposed convolution: each element adds the kernel, weighted by it, to the window over it.

        ``(n, c, h, w)`` by a weight ``(c, o / groups, kh, kw)`` and a bias ``(o,)`` gives ``(n, o, ...)``; a size
        becomes ``(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``."""

    # -- pooling -------------------------------------------------------------------------------------------------

    def max_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        """The largest in each window, NaN if one is. Padding never wins; of equal ones the first gets the gradient."""

    def max_pool2d_indices(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Labels[Self]:
        """Where `max_pool2d` found the largest: ``row * width + column`` in the image, the first of equal ones."""

    def max_pool2d_grad(self, dy: Self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        """The gradient of these images, ``dy`` being that of their `max_pool2d`."""

    def sum_pool2d(self, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        """The sum over each window."""

    def sum_pool2d_grad(self, shape: Shape, kernel: Pair, /, **options: Unpack[PoolOptions]) -> Self:
        """The adjoint of `sum_pool2d` for images of ``shape``: their gradient, this one being that of the result."""

    def avg_pool2d(
        self,
        kernel: Pair,
        /,
        *,
        stride: Pair | None = None,
        padding: Pair = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Self:
        """The mean over each window; the padding counts as zeros, or with ``count_include_pad=False`` not at all.

        What a window covers beyond the padding, in ``ceil_mode``, never counts."""

    def adaptive_avg_pool2d(self, size: Pair, /) -> Self:
        """Means over windows that divide the image into ``size`` rows and columns.

        Of ``n`` windows along ``h`` rows, window ``i`` goes from row ``i * h // n`` to before row
        ``ceil((i + 1) * h / n)``. For means over the whole image there is also ``x.mean((2, 3))``."""

    # -- size ----------------------------------------------------------------------------------------------------

    def upsample_nearest2d(self, size: Pair, /) -> Self:
        """Images of another height and width: row ``i`` is row ``i * h // size``, and columns alike."""

    def upsample_bilinear2d(self, size: Pair, /, *, align_corners: bool = False) -> Self:
        """Images of another height and width, interpolated linearly in each direction.

        Pixels are squares whose outer edges meet; with ``align_corners`` they are points, and the outermost meet."""

    def pad2d(
        self,
        padding: Edges,
        /,
        *,
        mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
        fill: float = 0.0,
    ) -> Self:
        """Images that are wider on each side: by ``fill``, by their mirror image, by their edge or by themselves.

        The mirror stands on the outermost row and does not repeat it."""

    # -- normalisation -------------------------------------------------------------------------------------------

    def batch_norm(self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> tuple[Self, Self, Self]:
        """Each channel with mean 0 and variance 1 over the batch, then scaled and shifted (Ioffe and Szegedy 2015).

        ``(n, c, ...)`` with weight and bias ``(c,)`` gives the result, the means and the variances, ``(c,)``. The
        variance divides by the number of values ``m``; multiply by ``m / (m - 1)`` for the unbiased one. Raises
        `ShapeError` if there is only one value a channel."""

    def batch_norm_grad(
        self, dy: Self, weight: Self, mean: Self, variance: Self, /, *, eps: float = 1e-5
    ) -> tuple[Self, Self, Self]:
        """The gradients of tensor, weight and bias, ``dy`` being that of the result of `batch_norm`."""

    def batch_norm_with(self, mean: Self, variance: Self, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> Self:
        """Each channel less the given mean, over the root of the given variance, then scaled and shifted."""

    def group_norm(self, groups: int, weight: Self, bias: Self, /, *, eps: float = 1e-5) -> Self:
        """Each group of channels of each sample with mean 0 and variance 1, then scaled and shifted (Wu and He 2018).

        ``(n, c, ...)`` with weight and bias ``(c,)``; one group is layer norm, ``c`` groups are instance norm."""
