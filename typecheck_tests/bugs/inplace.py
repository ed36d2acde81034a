"""Tensors that are written over. Here they are values, and nothing writes over them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import nn


def impossible_b085_other_name_for_an_activation() -> None:
    """A second name for an activation is updated in place, and with it what the gradient will need.

    PyTorch notices: at run time, in the backward pass
    """

    def block[T: mx.Tensor](x: T) -> T:
        hidden = x.exp()
        out = hidden
        out += x
        return (hidden * out).sum()

    points = np.array([0.5, -1.0])
    x, e = mx.variable(mx.numpy().from_host(points)), np.exp(points)
    gradient = block(x).backward().of(x).to_host()
    assert np.allclose(gradient, e * (e + points) + e * (e + 1.0))


def wrong_b086_activation_written_over() -> None:
    """Elements of an activation are set after the layer that made it, whose gradient needs what was there.

    PyTorch notices: at run time, in the backward pass
    """

    @dataclass(frozen=True)
    class Masked[T: mx.MlpTensor](nn.Module[T]):
        hidden: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch out"]:
            gates = self.hidden.forward(x).sigmoid()
            gates[:, 0] = 0.0  # E: [index]
            return gates * gates


def right_b086_activation_written_over() -> None:
    @dataclass(frozen=True)
    class Masked[T: mx.MlpTensor](nn.Module[T]):
        hidden: nn.Linear[T]

        def forward(self, x: Float[T, "batch features"]) -> Float[T, "batch out"]:
            gates = self.hidden.forward(x).sigmoid()
            first = gates[:, :1]
            gates = first.zeros(first.shape).concatenate(gates[:, 1:], axis=1)
            return gates * gates

    like = mx.numpy()
    masked = Masked(nn.Linear.init(3, 4, like=like, key=mx.Key(0)))
    assert masked.forward(like.ones((2, 3)))[:, 0].sum().item() == 0.0
