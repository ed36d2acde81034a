"""The layers of images that are compared with PyTorch: the shapes of their inputs and parameters, by name.

Their numbers are `tests.models.fixed_weights.wave` of ``"CASE.x"``, ``"CASE.weight"``, ..., on both sides alike.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from tests.models.fixed_weights import wave

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "conv": {"x": (2, 4, 5, 6), "weight": (6, 2, 3, 2), "bias": (6,)},
    "transposed": {"x": (2, 3, 4, 5), "weight": (3, 4, 3, 2), "bias": (4,)},
    "transposed, grouped": {"x": (2, 4, 3, 5), "weight": (4, 3, 3, 2), "bias": (6,)},
    "transposed, without bias": {"x": (1, 2, 4, 3), "weight": (2, 1, 2, 2)},
    "group norm": {"x": (3, 6, 2, 4), "weight": (6,), "bias": (6,)},
    "group norm of one group": {"x": (2, 4, 3, 3), "weight": (4,), "bias": (4,)},
    "group norm of sequences": {"x": (2, 4, 5), "weight": (4,), "bias": (4,)},
    "max pool": {"x": (2, 3, 7, 8)},
    "max pool, overlapping": {"x": (2, 3, 7, 8)},
    "avg pool": {"x": (2, 3, 7, 8)},
    "avg pool, padding not counted": {"x": (2, 3, 7, 8)},
    "adaptive avg pool": {"x": (2, 3, 7, 8)},
    "global avg pool": {"x": (2, 3, 7, 8)},
    "nearest": {"x": (2, 3, 3, 4)},
    "bilinear": {"x": (2, 3, 3, 4)},
    "bilinear, corners aligned": {"x": (2, 3, 3, 4)},
}


def operand(case: str, name: str) -> NDArray[np.float64]:
    """An input or a parameter of a case."""
    return wave(f"{case}.{name}", SHAPES[case][name])


def seed(case: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The gradient of the result."""
    return wave(f"{case}.seed", shape) / prod(shape)
