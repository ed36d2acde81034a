"""A loss that is no number ends the run at once, with the step and the parameter."""

import numpy as np

from moonxi.errors import NonFiniteError
from moonxi.traits import Tensor


def first_not_finite[T: Tensor](named: dict[str, T]) -> str | None:
    """The path of the first tensor with a NaN or an infinity in it."""
    return next((path for path, tensor in named.items() if not np.isfinite(tensor.to_host()).all()), None)


def not_finite[T: Tensor](step: int, loss: float, parameters: dict[str, T], gradients: dict[str, T]) -> NonFiniteError:
    """The error for a step whose loss is not finite."""
    bad = first_not_finite(parameters)
    if bad is not None:
        what = f"parameter {bad} was not finite before the step; a smaller learning rate or clip_norm may help"
    elif (bad := first_not_finite(gradients)) is not None:
        what = (
            f"all parameters were finite; the first gradient that is not is that of {bad}; look at the data, "
            "and at the learning rate"
        )
    else:
        what = "all parameters and gradients were finite; look at the loss and the data"
    return NonFiniteError(f"step {step}: the loss is {loss}: {what}. The trainer's model is that before the step")
