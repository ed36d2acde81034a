"""The search along a line for a step that lowers a loss enough and flattens it enough."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan, sqrt
from typing import Final

SUFFICIENT: Final = 1e-4
"""The part of the first slope by which the loss must fall at least: the constant of Armijo's condition."""
FLAT: Final = 0.9
"""The part of the first slope that may be left at most: the constant of the condition on the curvature."""


@dataclass(frozen=True, slots=True)
class Point[P]:
    """A step, the loss and its slope there, and what else belongs to it."""

    step: float
    loss: float
    slope: float
    there: P


def strong_wolfe[P](
    evaluate: Callable[[float], Point[P]], start: Point[P], first: float, /, *, longest: float, least: float, most: int
) -> Point[P]:
    """A point that meets the strong Wolfe conditions, or the best of ``most`` evaluations after the first.

    ``longest`` is the largest element of the direction; a bracket in which no element moves by ``least`` is not
    divided further. Nocedal and Wright 2006, algorithms 3.5 and 3.6, with the safeguards of PyTorch's
    ``line_search_fn="strong_wolfe"``: the same numbers. A loss that is NaN counts as infinite."""
    previous, now = start, _finite(evaluate(first))
    for count in range(most):
        too_high = now.loss > start.loss + SUFFICIENT * now.step * start.slope
        if too_high or (count > 1 and now.loss >= previous.loss):
            return _zoom(evaluate, start, (previous, now), longest=longest, least=least, most=most - count)
        if abs(now.slope) <= -FLAT * start.slope:
            return now
        if now.slope >= 0.0:
            return _zoom(evaluate, start, (previous, now), longest=longest, least=least, most=most - count)
        step = _cubic(previous, now, now.step + 0.01 * (now.step - previous.step), 10.0 * now.step)
        previous, now = now, _finite(evaluate(step))
    return min(start, now, key=lambda point: point.loss)


def _finite[P](point: Point[P]) -> Point[P]:
    return Point(point.step, inf, point.slope, point.there) if isnan(point.loss) else point


def _zoom[P](
    evaluate: Callable[[float], Point[P]],
    start: Point[P],
    bracket: tuple[Point[P], Point[P]],
    *,
    longest: float,
    least: float,
    most: int,
) -> Point[P]:
    """The bracket made smaller until its lower end meets the conditions. Its ends keep their order as given."""
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    ends = list(bracket)
    near_the_end = False
    for _ in range(most):
        shortest, widest = sorted(end.step for end in ends)
        if (widest - shortest) * longest < least:
            break
        step = _cubic(ends[0], ends[1], shortest, widest)
        margin = 0.1 * (widest - shortest)
        if min(widest - step, step - shortest) >= margin:
            near_the_end = False
        elif near_the_end or step >= widest or step <= shortest:
            step = widest - margin if abs(step - widest) < abs(step - shortest) else shortest + margin
            near_the_end = False
        else:
            near_the_end = True
        now = _finite(evaluate(step))
        if now.loss > start.loss + SUFFICIENT * step * start.slope or now.loss >= ends[low].loss:
            ends[high] = now
            low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
            continue
        if abs(now.slope) <= -FLAT * start.slope:
            return now
        if now.slope * (ends[high].step - ends[low].step) >= 0.0:
            ends[high] = ends[low]
        ends[low] = now
    return ends[low]


def _cubic[P](one: Point[P], other: Point[P], least: float, most: float) -> float:
    """The minimum of the cubic through both points with their slopes, within the bounds; their middle if none."""
    left, right = (one, other) if one.step <= other.step else (other, one)
    d1 = left.slope + right.slope - 3.0 * (left.loss - right.loss) / (left.step - right.step)
    square = d1 * d1 - left.slope * right.slope
    if not 0.0 <= square < inf:  # NaN too, where a loss is infinite
        return (least + most) / 2.0
    d2 = sqrt(square)
    divisor = right.slope - left.slope + 2.0 * d2
    if divisor == 0.0:
        return (least + most) / 2.0
    place = right.step - (right.step - left.step) * ((right.slope + d2 - d1) / divisor)
    return min(max(place, least), most)
