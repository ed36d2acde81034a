"""A straight line through noiseless points, by gradient descent: y = 3 x + 1.

The model and the loop are generic in the tensor class: ``main`` says once where they run.

    python examples/linear.py
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import moonxi as mx
from moonxi import losses, nn, optim


@dataclass(frozen=True, eq=False)
class Points[T: mx.Tensor]:
    """A batch: x and y of points, each a column."""

    x: Float[T, "batch 1"]
    y: Float[T, "batch 1"]

    def map[U: mx.Tensor](self, f: Callable[[T], U], /) -> "Points[U]":
        """The same points in another interpreter."""
        return Points(f(self.x), f(self.y))


def loss[T: mx.MlpTensor](model: nn.Linear[T], points: Points[T], mode: nn.Mode) -> T:
    """The mean squared distance of the line from the points."""
    return losses.mse(model.forward(points.x), points.y)


def fit[T: mx.MlpTensor](like: T, epochs: int = 200) -> tuple[float, float]:
    """Slope and intercept after some epochs, computed where ``like`` lives."""
    x = np.linspace(-1.0, 1.0, 64).reshape(64, 1)
    points = Points(like.from_host(x), like.from_host(3.0 * x + 1.0))
    model = nn.Linear.init(1, 1, like=like, key=mx.Key(0))
    optimizer = optim.Sgd(lr=0.1)
    state = optimizer.init(model)
    for epoch in range(epochs):
        value, gradients = nn.value_and_grad(loss, model, points, nn.Eval())
        model, state = optimizer.update(model, gradients, state)
        if epoch % 50 == 49:
            print(f"epoch {epoch + 1:3}  loss {value.item():.2e}")
    assert model.bias is not None
    return model.weight.item(), model.bias.item()


def main() -> None:
    """Fit the line on the CPU, and fail if it is not found."""
    w, b = fit(mx.numpy())
    print(f"w {w:.2f}  b {b:.2f}")
    if abs(w - 3.0) > 0.005 or abs(b - 1.0) > 0.005:
        sys.exit("expected w 3.00 and b 1.00")


if __name__ == "__main__":
    main()
