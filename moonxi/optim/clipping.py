"""Gradients kept from being too long."""

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from operator import add
from typing import Final

from moonxi import settings
from moonxi.dtypes import F16
from moonxi.fusion import Symbol, can_fuse, formula_of, of_members
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
    def scaled(x: Symbol, by: Symbol) -> Symbol:
        return x / by

    squares = _squares_at_once(gradients, scaled, [largest]) or [(one / largest).square().sum() for one in gradients]
    return _added(squares).sqrt() * largest


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

    def scaled(x: Symbol, *_: Symbol) -> Symbol:
        return x * unit

    squares = _squares_at_once(gradients, scaled, []) or [(one * unit).square().sum() for one in gradients]
    norm = _added(squares).sqrt()
    factor = scale / (norm + 1e-6 * unit)
    factor = factor.where(factor < 1.0, 1.0)
    if can_fuse(factor):
        formula = formula_of(lambda each, ones: ([each[0] * ones[0]], []), each=1, shared=1)
        made = of_members(formula, [[gradient, factor] for gradient in gradients])
        if made is not None:
            return tuple(made)
    return tuple(gradient * factor for gradient in gradients)


def _squares_at_once[T: Tensor](gradients: Sequence[T], scaled: Callable[..., Symbol], by: list[T]) -> list[T] | None:
    """For each gradient the sum of the squares of its elements, scaled; None if the class does not compute formulas."""
    if not can_fuse(gradients[0]):
        return None
    formula = formula_of(lambda each, ones: ([], [scaled(each[0], *ones).square()]), each=1, shared=len(by))
    return of_members(formula, [[gradient, *by] for gradient in gradients])


def _added[T: Tensor](scalars: Sequence[T]) -> T:
    """The sum of scalars, from the first to the last."""
    total = scalars[0]
    if can_fuse(total):
        for first in range(1, len(scalars), _MOST):
            some = [total, *scalars[first : first + _MOST]]
            formula = formula_of(lambda each, _: ([reduce(add, each)], []), each=len(some))
            total = (of_members(formula, [some]) or [reduce(add, some)])[0]
        return total
    for one in scalars[1:]:
        total = total + one
    return total


def clip_by_value[T: Tensor](gradients: Sequence[T], limit: float, /) -> tuple[T, ...]:
    """The gradients with each element brought between ``-limit`` and ``limit``; NaN stays NaN.

    Raises `OptionError` unless the limit is positive."""
    settings.numbers("clip_by_value", settings.POSITIVE_OR_INFINITE, limit=limit)
    return tuple(gradient.clip(-limit, limit) for gradient in gradients)
