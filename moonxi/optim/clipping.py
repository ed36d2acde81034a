"""Gradients kept from being too long."""

from collections.abc import Sequence

from moonxi.errors import OptionError
from moonxi.traits import Tensor


def global_norm[T: Tensor](gradients: Sequence[T], /) -> T:
    """The Euclidean norm of all the gradients together: a scalar. There must be at least one gradient."""
    total = gradients[0].square().sum()
    for gradient in gradients[1:]:
        total = total + gradient.square().sum()
    return total.sqrt()


def clip_by_global_norm[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients, scaled by ``limit / (norm + 1e-6)`` where that is less than 1 (Pascanu et al. 2013)."""
    if not gradients:
        return ()
    factor = limit / (global_norm(gradients) + 1e-6)
    factor = factor.where(factor < 1.0, 1.0)
    return tuple(gradient * factor for gradient in gradients)


def clip_by_value[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients with each element brought between ``-limit`` and ``limit``; NaN stays NaN.

    Raises `OptionError` unless the limit is positive."""
    if not limit > 0.0:
        raise OptionError(f"clip_by_value: limit={limit}: must be positive")
    return tuple(gradient.clip(-limit, limit) for gradient in gradients)
