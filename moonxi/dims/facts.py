"""What is known about two sizes, whatever the values of their symbols: yes, no, or nothing.

YES and NO hold for every assignment of integers within the bounds of the symbols under which both sizes have a value.
UNKNOWN covers both what depends on the assignment and what these rules cannot prove.
"""

from enum import Enum
from functools import lru_cache
from typing import NoReturn

from moonxi.dims.bounds import interval, lower, upper
from moonxi.dims.dim import Size, polynomial_of
from moonxi.dims.polynomial import Atom, Polynomial, common_monomial
from moonxi.dims.substitution import evaluate, least_values
from moonxi.errors import OperandError


class Answer(Enum):
    """The answer to a question about sizes: it always holds, it never holds, or it cannot be known."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise OperandError(f"bool: {self}: an answer is one of three; compare it, as in `answer is Answer.YES`")


def equal(left: Size, right: Size) -> Answer:
    """Whether the sizes are equal."""
    if isinstance(left, int) and isinstance(right, int):
        return Answer.YES if left == right else Answer.NO
    if left == right:
        return Answer.YES
    return _compared(left, right)


@lru_cache(maxsize=4096)  # the same few sizes meet again and again
def _compared(left: Size, right: Size) -> Answer:
    return _is_zero(polynomial_of(left) - polynomial_of(right))


def less(left: Size, right: Size) -> Answer:
    """Whether ``left < right``."""
    if isinstance(left, int) and isinstance(right, int):
        return Answer.YES if left < right else Answer.NO
    difference = polynomial_of(right) - polynomial_of(left)
    least, most = lower(difference), upper(difference)
    if least is not None and least > 0:
        return Answer.YES
    return Answer.NO if most is not None and most <= 0 else Answer.UNKNOWN


def provably_equal(left: Size, right: Size) -> bool:
    """Whether the sizes are known to be equal."""
    return equal(left, right) is Answer.YES


def provably_different(left: Size, right: Size) -> bool:
    """Whether the sizes are known never to be equal."""
    return equal(left, right) is Answer.NO


def provably_less(left: Size, right: Size) -> bool:
    """Whether ``left < right`` is known to hold."""
    return less(left, right) is Answer.YES


def provably_at_most(left: Size, right: Size) -> bool:
    """Whether ``left <= right`` is known to hold."""
    return less(right, left) is Answer.NO


def can_differ(left: Size, right: Size) -> bool:
    """Whether the sizes are known not to be equal in general: they never are, or an example makes them differ.

    So ``n`` and ``m`` can differ, though nothing proves them different; code that needs them equal is wrong for some.
    """
    same = equal(left, right)
    if same is not Answer.UNKNOWN:
        return same is Answer.NO
    least = least_values(left, right)
    for step in (3, 7, 19, 41, 2, 1):
        # Values in no simple relation to each other, so that an identity of them is one of the sizes too.
        values = {name: start + step * (place + 1) ** 2 % 101 for place, (name, start) in enumerate(least.items())}
        try:
            if evaluate(left, values) != evaluate(right, values):
                return True
        except ZeroDivisionError:
            continue
    return False


def _is_zero(polynomial: Polynomial) -> Answer:
    if not polynomial.terms:
        return Answer.YES
    common = polynomial.varying.content
    if common and polynomial.constant % common:
        return Answer.NO
    least, most = lower(polynomial), upper(polynomial)
    if least == 0 == most:
        return Answer.YES
    if (least is not None and least > 0) or (most is not None and most < 0):
        return Answer.NO
    factor = common_monomial(monomial for monomial, _ in polynomial.terms)
    if not factor:
        return Answer.UNKNOWN
    rest = _is_zero(polynomial.exactly_divided(factor, 1))
    return Answer.UNKNOWN if rest is Answer.NO and not all(map(_is_nonzero, factor)) else rest


def _is_nonzero(atom: Atom) -> bool:
    least, most = interval(atom)
    return (least is not None and least > 0) or (most is not None and most < 0)
