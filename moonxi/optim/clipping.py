"""Gradients kept from being too long."""

from collections.abc import Sequence
from math import prod

from moonxi import settings
from moonxi.traits import Tensor


def global_norm[T: Tensor](gradients: Sequence[T], /) -> T:
    """The Euclidean norm of all the gradients together: a scalar. There must be at least one gradient."""
    largest, norm = _scaled_norm(gradients)
    return norm * largest


def _scaled_norm[T: Tensor](gradients: Sequence[T]) -> tuple[T, T]:
    """The largest absolute element, or 1 if all are 0, and the norm of all the gradients over it.

    Squares of the elements themselves would overflow from 1.8e19 on in float32 (Blue 1978)."""
    sizes = [gradient.abs().max() for gradient in gradients if prod(gradient.shape) != 0] or [gradients[0].ones(())]
    largest = sizes[0]
    for size in sizes[1:]:
        largest = largest.maximum(size)
    largest = largest.where(largest.not_equal(0.0), 1.0)
    total = (gradients[0] / largest).square().sum()
    for gradient in gradients[1:]:
        total = total + (gradient / largest).square().sum()
    return largest, total.sqrt()


def clip_by_global_norm[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients, scaled by ``limit / (norm + 1e-6)`` where that is less than 1 (Pascanu et al. 2013).

    Raises `OptionError` unless the limit is positive."""
    settings.numbers("clip_by_global_norm", settings.POSITIVE_OR_INFINITE, limit=limit)
    if not gradients:
        return ()
    largest, norm = _scaled_norm(gradients)
    # The norm itself, their product, may be more than the largest number.
    factor = limit / largest / (norm + 1e-6 / largest)
    factor = factor.where(factor < 1.0, 1.0)
    return tuple(gradient * factor for gradient in gradients)


def clip_by_value[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients with each element brought between ``-limit`` and ``limit``; NaN stays NaN.

    Raises `OptionError` unless the limit is positive."""
    settings.numbers("clip_by_value", settings.POSITIVE_OR_INFINITE, limit=limit)
    return tuple(gradient.clip(-limit, limit) for gradient in gradients)
