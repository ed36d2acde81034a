"""Activations and the layers of text that are compared with PyTorch: the shapes of their operands, by name.

Their numbers are `tests.models.fixed_weights.wave` of ``"CASE.x"``, ``"CASE.weight"``, ..., on both sides alike.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from tests.models.fixed_weights import wave

_ACTIVATION: dict[str, tuple[int, ...]] = {"x": (5, 7)}
_NORM: dict[str, tuple[int, ...]] = {"x": (3, 2, 5), "weight": (5,), "bias": (5,)}

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "sigmoid": _ACTIVATION,
    "silu": _ACTIVATION,
    "gelu": _ACTIVATION,
    "gelu, tanh": _ACTIVATION,
    "elu": _ACTIVATION,
    "elu, alpha": _ACTIVATION,
    "leaky_relu": _ACTIVATION,
    "leaky_relu, slope": _ACTIVATION,
    "softplus": _ACTIVATION,
    "softplus, beta": _ACTIVATION,
    "mish": _ACTIVATION,
    "hardswish": _ACTIVATION,
    "softmax": _ACTIVATION,
    "softmax, first axis": _ACTIVATION,
    "layer norm": _NORM,
    "layer norm, eps": _NORM,
    "layer norm, without bias": {"x": (4, 5), "weight": (5,)},
    "layer norm of one": {"x": (3, 1), "weight": (1,), "bias": (1,)},
    "rms norm": {"x": (3, 2, 5), "weight": (5,)},
    "rms norm, eps": {"x": (4, 5), "weight": (5,)},
    "rms norm of one": {"x": (1, 1), "weight": (1,)},
    "bilinear": {"x": (4, 3), "y": (4, 2), "weight": (5, 3, 2), "bias": (5,)},
    "bilinear of sequences": {"x": (2, 3, 3), "y": (2, 3, 2), "weight": (4, 3, 2), "bias": (4,)},
    "bilinear, without bias": {"x": (1, 1), "y": (1, 1), "weight": (1, 1, 1)},
    "embedding": {"weight": (6, 4)},
    "embedding, padding": {"weight": (6, 4)},
    "embedding of one label": {"weight": (1, 1)},
}


def operand(case: str, name: str) -> NDArray[np.float64]:
    """An input or a parameter of a case; inputs of activations reach beyond 3, where some of them have a kink."""
    return np.asarray(wave(f"{case}.{name}", SHAPES[case][name])) * (4.0 if SHAPES[case] is _ACTIVATION else 1.0)


def labels(case: str) -> NDArray[np.int64]:
    """The labels that an embedding looks up: some more than once."""
    shape = () if "of one" in case else (3, 4)
    return np.asarray(np.arange(prod(shape)).reshape(shape) * 5 % SHAPES[case]["weight"][0] % 5)


def seed(case: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The gradient of the result."""
    return np.asarray(wave(f"{case}.seed", shape))
