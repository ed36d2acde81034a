"""The losses that are compared with PyTorch: the shapes of their operands, by name.

``x``, ``y``, ``z`` and ``weight`` are numbers, ``labels`` class indices and ``side`` 1 or -1. A case is named by its
loss and what is special about it.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from tests.models.fixed_weights import wave

IGNORED = -100
"""The label that counts for nothing."""

_TWO: dict[str, tuple[int, ...]] = {"x": (4, 3), "y": (4, 3)}
_CLASSES: dict[str, tuple[int, ...]] = {"x": (5, 4), "labels": (5,)}
_WEIGHTED: dict[str, tuple[int, ...]] = {**_CLASSES, "weight": (4,)}
_TRIPLET: dict[str, tuple[int, ...]] = {"x": (5, 3), "y": (5, 3), "z": (5, 3)}
_PAIRS: dict[str, tuple[int, ...]] = {"x": (6, 3), "y": (6, 3), "side": (6,)}

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "mse": _TWO,
    "l1": _TWO,
    "l1 of one": {"x": (1,), "y": (1,)},
    "huber": _TWO,
    "huber, narrow": _TWO,
    "huber of scalars": {"x": (), "y": ()},
    "smooth_l1": _TWO,
    "smooth_l1, narrow": _TWO,
    "smooth_l1, without a bend": _TWO,
    "binary_cross_entropy": _TWO,
    "binary_cross_entropy, positive_weight": _TWO,
    "binary_cross_entropy of large logits": _TWO,
    "nll": _CLASSES,
    "nll, weight": _WEIGHTED,
    "nll, ignore": _CLASSES,
    "nll, weight and ignore": _WEIGHTED,
    "cross_entropy": _CLASSES,
    "cross_entropy of sequences": {"x": (2, 3, 4), "labels": (2, 3)},
    "cross_entropy, weight": _WEIGHTED,
    "cross_entropy, ignore": _CLASSES,
    "cross_entropy, smoothing": _CLASSES,
    "cross_entropy, smoothing of one class": {"x": (3, 1), "labels": (3,)},
    "cross_entropy, all options": _WEIGHTED,
    "cross_entropy, all options of sequences": {"x": (2, 3, 4), "labels": (2, 3), "weight": (4,)},
    "kl_divergence": _TWO,
    "hinge": {"x": (4, 3), "side": (4, 3)},
    "hinge, wide": {"x": (4, 3), "side": (4, 3)},
    "multiclass_hinge": _CLASSES,
    "multiclass_hinge, narrow": {"x": (12, 4), "labels": (12,)},
    "multiclass_hinge of one class": {"x": (3, 1), "labels": (3,)},
    "cosine_embedding": _PAIRS,
    "cosine_embedding, margin": _PAIRS,
    "triplet_margin": _TRIPLET,
    "triplet_margin, order 1": _TRIPLET,
    "triplet_margin, order 3": _TRIPLET,
    "triplet_margin, swap": _TRIPLET,
}


def numbers(case: str) -> dict[str, NDArray[np.float64]]:
    """The operands that are numbers."""
    found: dict[str, NDArray[np.float64]] = {}
    for name, shape in SHAPES[case].items():
        if name in ("labels", "side"):
            continue
        one = 1.5 * wave(f"{case}.{name}", shape)
        if "large" in case and name == "x":
            one *= 100.0
        elif name == "weight":
            one = np.abs(one) + 0.1
        elif name == "y" and case.startswith("binary"):
            one = 0.5 + one / 4.0
        found[name] = np.asarray(one)
    return found


def labels(case: str) -> NDArray[np.int64]:
    """The class indices; every third is ignored in the cases about that."""
    shape = SHAPES[case].get("labels", ())
    found = np.arange(prod(shape)).reshape(shape) * 3 % SHAPES[case]["x"][-1] if shape else np.zeros((), np.int64)
    return np.where(np.arange(prod(shape)).reshape(shape) % 3 == 1, IGNORED, found) if _ignores(case) else found


def side(case: str) -> NDArray[np.float64]:
    """1 or -1."""
    shape = SHAPES[case].get("side", ())
    return np.where(np.arange(prod(shape)).reshape(shape) % 2 == 0, 1.0, -1.0)


def seed(case: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The gradient of the result."""
    return wave(f"{case}.seed", shape)


def _ignores(case: str) -> bool:
    return "ignore" in case or "all options" in case
