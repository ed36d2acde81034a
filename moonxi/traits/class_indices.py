"""Class indices that a caller brings, checked before they select anything."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moonxi import shapes
from moonxi.errors import LabelError


def checked(labels: NDArray[Any], classes: int, operation: str) -> NDArray[Any]:
    """The labels, after checking that each names a class."""
    if labels.size and labels.view(f"u{labels.itemsize}").max() >= classes:  # without its sign a negative one is large
        wrong = np.flatnonzero((labels < 0) | (labels >= classes))
        where = ", ".join(map(str, np.unravel_index(wrong[0], labels.shape)))
        raise LabelError(
            f"{operation}: labels {shapes.show(labels.shape)}: label {labels.flat[wrong[0]]} at [{where}] is not a "
            f"class from 0 to {classes - 1} ({wrong.size} of {prod(labels.shape)} labels are outside)"
        )
    return labels
