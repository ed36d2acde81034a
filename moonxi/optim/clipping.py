"""Gradients kept from being too long."""

from collections.abc import Iterator, Sequence
from math import prod

from moonxi import settings
from moonxi.dtypes import F16
from moonxi.traits import Tensor


def global_norm[T: Tensor](gradients: Sequence[T], /) -> T:
    """The Euclidean norm of all the gradients together: a scalar. There must be at least one gradient."""
    sizes = [gradient.abs().max() for gradient in gradients if prod(gradient.shape) != 0] or [gradients[0].ones(())]
    largest = sizes[0]
    for size in sizes[1:]:
        largest = largest.maximum(size)
    largest = largest.where(largest.not_equal(0.0), 1.0)
    # Squares of the elements themselves overflow from 1.8e19 on in float32, and are 0 below 1e-23 (Blue 1978).
    return _squares(gradient / largest for gradient in gradients).sqrt() * largest


def clip_by_global_norm[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients, scaled by ``limit / (norm + 1e-6)`` where that is less than 1 (Pascanu et al. 2013).

    Elements so large that even the squares of ``element / limit * 2**-48`` overflow, in float32 about 1e33 times the
    limit, make all gradients 0. Raises `OptionError` unless the limit is positive."""
    settings.numbers("clip_by_global_norm", settings.POSITIVE_OR_INFINITE, limit=limit)
    if not gradients:
        return ()
    # Only elements near the limit and above it decide, so that the small ones may well vanish. A constant is one pass
    # over the gradients, where the largest element would be two more. The range of F16 has no room for it.
    scale = 1.0 if gradients[0].dtype is F16 else 2.0**-48
    unit = scale / limit
    norm = _squares(gradient * unit for gradient in gradients).sqrt()
    factor = scale / (norm + 1e-6 * unit)
    factor = factor.where(factor < 1.0, 1.0)
    return tuple(gradient * factor for gradient in gradients)


def _squares[T: Tensor](gradients: Iterator[T]) -> T:
    """The sum of the squares of all elements."""
    total = next(gradients).square().sum()
    for gradient in gradients:
        total = total + gradient.square().sum()
    return total


def clip_by_value[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients with each element brought between ``-limit`` and ``limit``; NaN stays NaN.

    Raises `OptionError` unless the limit is positive."""
    settings.numbers("clip_by_value", settings.POSITIVE_OR_INFINITE, limit=limit)
    return tuple(gradient.clip(-limit, limit) for gradient in gradients)
