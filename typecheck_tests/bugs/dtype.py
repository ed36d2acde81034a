"""Elements of two types, and labels that are no integers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

import moonxi as mx
from moonxi import F32, F64, Labels, NpArray, nn
from moonxi.losses import Logits, cross_entropy

type Host = NpArray[F32]
type Double = NpArray[F64]


def linear() -> nn.Linear[Host]:
    return nn.Linear.init(4, 3, like=mx.numpy(), key=mx.Key(0))


def wrong_b074_features_of_numpy(features: NDArray[np.float64], layer: nn.Linear[Host]) -> None:
    """Features come from NumPy in double precision, and the weights are in single.

    PyTorch notices: at run time
    """
    print(features @ layer.weight)  # E: [operator]


def right_b074_features_of_numpy() -> None:
    features = np.ones((2, 4))
    layer = linear()
    print(layer.weight.from_host(features) @ layer.weight)


def wrong_b075_double_matrix_for_a_layer(layer: nn.Linear[Host]) -> None:
    """A matrix in double precision is given to a layer in single precision.

    PyTorch notices: at run time
    """
    x = mx.numpy(F64).from_host(np.random.default_rng(0).normal(size=(2, 4)))
    print(layer.forward(x))  # E: [arg-type]


def right_b075_double_matrix_for_a_layer() -> None:
    x = mx.numpy(F32).from_host(np.random.default_rng(0).normal(size=(2, 4)))
    print(linear().forward(x))


def wrong_b077_double_grid_of_splines(x: Double) -> None:
    """The coefficients of splines are in single precision, the points at which they are taken in double.

    PyTorch notices: at run time
    """

    @dataclass(frozen=True)
    class Spline[T: mx.MlpTensor](nn.Module[T]):
        coefficients: Float[T, "powers out"]

        def forward(self, x: Float[T, " points"]) -> Float[T, "points out"]:
            powers = x.ones(x.shape).stack(x, x.square(), axis=1)
            return powers @ self.coefficients

    spline = Spline(mx.numpy().ones((3, 2)))
    print(spline.forward(x))  # E: [arg-type]


def right_b077_double_grid_of_splines() -> None:
    @dataclass(frozen=True)
    class Spline[T: mx.MlpTensor](nn.Module[T]):
        coefficients: Float[T, "powers out"]

        def forward(self, x: Float[T, " points"]) -> Float[T, "points out"]:
            powers = x.ones(x.shape).stack(x, x.square(), axis=1)
            return powers @ self.coefficients

    spline = Spline(mx.numpy(F64).ones((3, 2)))
    print(spline.forward(mx.numpy(F64).ones((4,))))


def impossible_b078_labels_of_32_bits() -> None:
    """Labels are integers of 32 bits, as NumPy gives them on some machines; the loss wants 64.

    PyTorch notices: at run time, on some machines
    """
    like = mx.numpy()
    logits = Logits(like.normal((3, 4), mx.Key(0)))
    classes = [0, 3, 1]
    losses = {
        cross_entropy(logits, like.labels(np.array(classes, kind))).item() for kind in (np.int32, np.int64, np.uint8)
    }
    assert len(losses) == 1


def wrong_b080_labels_in_double_precision(logits: Logits[Host], targets: NDArray[np.float64]) -> None:
    """Labels are read as floating-point numbers, as the whole table is.

    PyTorch notices: at run time
    """
    labels: Labels[Host] = logits.value.labels(targets)  # E: [arg-type]
    print(cross_entropy(logits, labels).item())


def right_b080_labels_in_double_precision() -> None:
    logits, targets = Logits(mx.numpy().ones((2, 3))), np.array([0.0, 2.0])
    labels: Labels[Host] = logits.value.labels(targets.astype(np.int64))
    print(cross_entropy(logits, labels).item())


def wrong_b081_mask_of_floats(logits: Logits[Host], mask: Host) -> None:
    """The mask of a segmentation holds 0.0 and 1.0, and goes into the loss as labels.

    PyTorch notices: at run time
    """
    print(cross_entropy(logits, mask).item())  # E: [arg-type]


def right_b081_mask_of_floats() -> None:
    like = mx.numpy()
    logits, mask = Logits(like.ones((1, 2, 2, 2))), np.array([[[0.0, 1.0], [1.0, 0.0]]])
    print(cross_entropy(logits, like.labels(mask.astype(np.uint8))).item())
