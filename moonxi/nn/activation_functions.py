"""Activation functions made of operations; `relu`, `tanh`, `sigmoid` and `softmax` are methods of the tensor."""

from math import pi, sqrt
from typing import Literal

from moonxi import settings
from moonxi.errors import OptionError
from moonxi.traits import Tensor

type GeluForm = Literal["erf", "tanh"]
"""The Gaussian's distribution function itself, or the usual approximation of it."""


def silu[T: Tensor](x: T, /) -> T:
    """``x * sigmoid(x)``, also called swish (Hendrycks and Gimpel 2016; Elfwing et al. 2018)."""
    return x * x.sigmoid()


def gelu[T: Tensor](x: T, /, *, form: GeluForm = "erf") -> T:
    """``x`` times the probability that a standard normal number is less than ``x`` (Hendrycks and Gimpel 2016).

    Exactly by the error function, or as ``0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``."""
    check_form("gelu", form)
    if form == "erf":
        return x * ((x * sqrt(0.5)).erf() + 1.0) * 0.5
    inner = (x.square() * 0.044715 + 1.0) * x * sqrt(2.0 / pi)
    return x * (inner.tanh() + 1.0) * 0.5


def check_form(owner: str, form: GeluForm, /) -> None:
    """Raise `OptionError` for another form than these."""
    if form not in ("erf", "tanh"):
        raise OptionError(f'{owner}: form={form!r}: must be "erf" or "tanh"')


def elu[T: Tensor](x: T, /, *, alpha: float = 1.0) -> T:
    """``x`` above 0 and ``alpha * (exp(x) - 1)`` elsewhere (Clevert et al. 2016)."""
    settings.numbers("elu", settings.ANY, alpha=alpha)
    above = x > 0.0
    # Large elements are out of the exponential, or their derivative would be 0 times infinity.
    return x.where(above, x.masked_fill(above, 0.0).expm1() * alpha)


def leaky_relu[T: Tensor](x: T, /, *, slope: float = 0.01) -> T:
    """``x`` above 0 and ``slope * x`` elsewhere (Maas et al. 2013)."""
    settings.numbers("leaky_relu", settings.ANY, slope=slope)
    return x.where(x > 0.0, x * slope)


def softplus[T: Tensor](x: T, /, *, beta: float = 1.0) -> T:
    """``log(1 + exp(beta * x)) / beta``, without overflow: `relu` with a bend, sharper as ``beta`` grows.

    Raises `OptionError` unless ``beta`` is positive."""
    settings.numbers("softplus", settings.POSITIVE, beta=beta)
    return x.softplus() if beta == 1.0 else (x * beta).softplus() / beta


def mish[T: Tensor](x: T, /) -> T:
    """``x * tanh(softplus(x))`` (Misra 2019)."""
    return x * x.softplus().tanh()


def hardswish[T: Tensor](x: T, /) -> T:
    """``x * min(max(x + 3, 0), 6) / 6`` (Howard et al. 2019); at -3 and 3 the derivative is that from between them."""
    return x * (x + 3.0).clip(0.0, 6.0) / 6.0
