"""Gradients kept from being too long."""

from collections.abc import Sequence
from functools import cache, lru_cache, reduce
from math import prod
from operator import add
from typing import Final

from moonxi import settings
from moonxi.dtypes import F16
from moonxi.formulas import Formula
from moonxi.fusion import formula_of, of_members
from moonxi.traits import Tensor

_MOST: Final = 90
"""Scalars that are added up at once."""


def global_norm[T: Tensor](gradients: Sequence[T], /) -> T:
    """The Euclidean norm of all the gradients together: a scalar. There must be at least one gradient."""
    sizes = [gradient.abs().max() for gradient in gradients if prod(gradient.shape) != 0] or [gradients[0].ones(())]
    largest = sizes[0]
    for size in sizes[1:]:
        largest = largest.maximum(size)
    largest = largest.where(largest.not_equal(0.0), 1.0)
    # Squares of the elements themselves overflow from 1.8e19 on in float32, and are 0 below 1e-23 (Blue 1978).
    squares = of_members(_squares_of_quotients(), [[gradient, largest] for gradient in gradients])
    return _added(squares or [(one / largest).square().sum() for one in gradients]).sqrt() * largest


def clip_by_global_norm[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients, scaled by ``limit / (norm + 1e-6)`` where that is less than 1 (Pascanu et al. 2013).

    Elements so large that even the squares of ``element / limit * 2**-32`` overflow, in float32 about 1e28 times the
    limit, make all gradients 0. Raises `OptionError` unless the limit is positive."""
    settings.numbers("clip_by_global_norm", settings.POSITIVE_OR_INFINITE, limit=limit)
    if not gradients:
        return ()
    # Only elements near the limit and above it decide, so that the small ones may well vanish. A constant is one pass
    # over the gradients, where the largest element would be two more. Much smaller, it would make squares so small that
    # processors take twice the time for them. The range of F16 has no room for it.
    scale = 1.0 if gradients[0].dtype is F16 else 2.0**-32
    unit = scale / limit
    squares = of_members(_squares_of_products(unit), [[gradient] for gradient in gradients])
    rest = squares or [(one * unit).square().sum() for one in gradients]
    total = _added(rest[:-_MOST]) if len(rest) > _MOST else None
    last = rest[-_MOST:] if total is None else [total, *rest[-_MOST:]]
    factor = (of_members(_factor_formula(len(last), scale, unit), [last]) or [_factor(last, scale, unit)])[0]
    return tuple([gradient * factor for gradient in gradients])


def _factor[T: Tensor](squares: Sequence[T], scale: float, unit: float) -> T:
    """What gradients are multiplied by, of whose elements in the unit these are the sums of the squares."""
    factor = scale / (reduce(add, squares).sqrt() + 1e-6 * unit)
    return factor.where(factor < 1.0, 1.0)


def _added[T: Tensor](scalars: Sequence[T]) -> T:
    """The sum of scalars, from the first to the last."""
    total = scalars[0]
    for first in range(1, len(scalars), _MOST):
        some = [total, *scalars[first : first + _MOST]]
        total = (of_members(_sum_formula(len(some)), [some]) or [reduce(add, some)])[0]
    return total


# The formulas of these are made once.


@cache
def _squares_of_quotients() -> Formula | None:
    return formula_of(lambda each, ones: ([], [(each[0] / ones[0]).square()]), each=1, shared=1)


@lru_cache(maxsize=64)
def _squares_of_products(unit: float) -> Formula | None:
    return formula_of(lambda each, _: ([], [(each[0] * unit).square()]), each=1)


@lru_cache(maxsize=64)
def _factor_formula(count: int, scale: float, unit: float) -> Formula | None:
    return formula_of(lambda each, _: ([_factor(each, scale, unit)], []), each=count)


@cache
def _sum_formula(count: int) -> Formula | None:
    return formula_of(lambda each, _: ([reduce(add, each)], []), each=count)


def clip_by_value[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients with each element brought between ``-limit`` and ``limit``; NaN stays NaN.

    Raises `OptionError` unless the limit is positive."""
    settings.numbers("clip_by_value", settings.POSITIVE_OR_INFINITE, limit=limit)
    return tuple(gradient.clip(-limit, limit) for gradient in gradients)
