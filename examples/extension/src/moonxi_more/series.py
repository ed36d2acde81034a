"""Functions of decimal numbers that the standard library leaves out, as series with digits to spare."""

import decimal
from decimal import Decimal

_ZERO, _ONE, _TWO = Decimal(0), Decimal(1), Decimal(2)
_NAN = Decimal("nan")


def sine(x: Decimal) -> Decimal:
    """The sine: its Taylor series, after whole turns have been taken away."""
    return _turned(x, 1, x)


def cosine(x: Decimal) -> Decimal:
    """The cosine, alike."""
    return _turned(x, 0, _ONE)


def _turned(x: Decimal, start: int, at_zero: Decimal) -> Decimal:
    if not x.is_finite():
        return _NAN
    if x == 0:
        return at_zero
    with decimal.localcontext() as context:
        context.prec += 10 + 2 * max(0, x.adjusted())
        turn = 2 * pi()
        x = x - turn * (x / turn).to_integral_value()
        term = x if start else _ONE
        total, n = term, start
        while term and abs(term) > _small(context.prec):
            term = -term * x * x / ((n + 1) * (n + 2))
            total, n = total + term, n + 2
    return +total


def error_function(x: Decimal) -> Decimal:
    """2 / sqrt(pi) exp(-x^2) times the sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1)), whose terms have one sign."""
    if x.is_nan():
        return _NAN
    if x == 0:
        return x
    with decimal.localcontext() as context:
        context.prec += 10
        if x.is_infinite() or x * x > 3 * context.prec:  # what is left to 1 is less than exp(-x^2)
            return _ONE.copy_sign(x)
        term, n = x, 0
        total = term
        while abs(term) > abs(total) * _small(context.prec):
            n += 1
            term = term * 2 * x * x / (2 * n + 1)
            total += term
        total = total * 2 / pi().sqrt() * (-x * x).exp()
    return +total


def exponential_less_one(x: Decimal) -> Decimal:
    """exp(x) - 1, with digits for those that the difference cancels."""
    if not x.is_finite() or x == 0:
        return x.exp() - 1 if x else x
    with decimal.localcontext() as context:
        context.prec += max(0, -x.adjusted()) + 5
        found = x.exp() - 1
    return +found


def logarithm_of_one_more(x: Decimal) -> Decimal:
    """log(1 + x), with digits for those that the sum loses."""
    if not x.is_finite() or x == 0:
        return (1 + x).ln() if x else x
    with decimal.localcontext() as context:
        context.prec += max(0, -x.adjusted()) + 5
        found = (1 + x).ln()
    return +found


def pi() -> Decimal:
    """The circle's number to the precision of the context, by Gauss, Legendre and Salamin."""
    with decimal.localcontext() as context:
        context.prec += 5
        a, b, t, p = _ONE, _ONE / _TWO.sqrt(), _ONE / 4, _ONE
        while abs(a - b) > _small(context.prec - 3):
            mean = (a + b) / 2
            b, t, p, a = (a * b).sqrt(), t - p * (a - mean) ** 2, 2 * p, mean
        found = (a + b) ** 2 / (4 * t)
    return +found


def _small(digits: int) -> Decimal:
    return Decimal(10) ** -digits
