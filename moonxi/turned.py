"""Gradients of images by kernels that are turned: such a gradient is a convolution again where the stride is 1.

A tensor class whose device computes that faster has its kernels turned before they are needed.
"""

from typing import Protocol, Self, Unpack, runtime_checkable

from moonxi.traits import ConvOptions, Shape


@runtime_checkable
class WithTurned(Protocol):
    """A tensor class that has kernels turned. Nothing is checked."""

    def conv2d_turned(self, dy: Shape, shape: Shape, /, **options: Unpack[ConvOptions]) -> Self:
        """A weight with its taps in reverse and the channels exchanged, for the gradient of images of a shape; or as it
        is, where that is computed from it as it is.

        ``dy`` is the shape of the gradient of the result."""
        ...

    def conv2d_input_grad_turned(
        self, weight: Self, turned: Self, shape: Shape, /, **options: Unpack[ConvOptions]
    ) -> Self:
        """As ``conv2d_input_grad``, with the weight and with what `conv2d_turned` has made of it."""
        ...
