"""The error function: of float32 by a polynomial and ``tanh``, a third of the time of SciPy's; of float64 by SciPy.

``erf(x)`` is the ``tanh`` of ``x * g(x**2)``, and NumPy computes ``tanh`` by vector instructions. The coefficients of
the polynomial ``g`` were fitted to ``atanh(erf(x)) / x`` on [0, 4] such that the largest relative error of ``erf``,
7.1e-8 before rounding, is as small as it can be. From 4 on ``erf`` is 1 in single precision. With rounding the result
is within 2.5e-7 of the true value, relatively: 4 units in the last place.
"""

from typing import Final

import numpy as np

from moonxi.backends.numpy import scratch, threads
from moonxi.dtypes import HostArray

_END: Final = np.array(4.0, np.float32)
_G: Final = tuple(
    np.array(one, np.float32)
    for one in (
        5.4224856e-09,
        2.7553074e-08,
        -4.7943827e-06,
        8.459557e-05,
        -0.000614836,
        -0.00019529051,
        0.10276987,
        1.1283792,
    )
)
"""From the seventh power down to the constant."""
_BLOCK: Final = 1 << 13
"""Elements at a time: what lies between the steps stays in the nearest cache."""
_WORK: Final = 40
"""What an element costs, in multiplications of a product of matrices."""


def erf(x: HostArray, *, out: HostArray) -> None:
    """The error function of each element into an array of the same shape and element type, which may be ``x``."""
    if x.dtype != np.float32:
        from scipy.special import erf as function  # here, since it takes a quarter of a second

        ufunc: np.ufunc = function  # type: ignore[assignment]  # which SciPy's types call a function
        ufunc(x, out=out)
    elif x.flags.c_contiguous and out.flags.c_contiguous:
        given, found = x.reshape(-1), out.reshape(-1)
        threads.each(lambda part: _part(given[part], found[part]), threads.parts(x.size, x.size * _WORK))
    else:
        result = np.array(x, order="C")
        erf(result, out=result)
        out[...] = result


def _part(x: HostArray, out: HostArray) -> None:
    near, square = (scratch.array(f"erf {name}", (min(_BLOCK, x.size),), x.dtype) for name in ("near", "square"))
    for start in range(0, x.size, _BLOCK):
        block = x[start : start + _BLOCK]
        y, s, value = near[: block.size], square[: block.size], out[start : start + _BLOCK]
        np.minimum(block, _END, out=y)
        np.maximum(y, -_END, out=y)
        np.multiply(y, y, out=s)
        np.multiply(s, _G[0], out=value)
        for coefficient in _G[1:-1]:
            np.add(value, coefficient, out=value)
            np.multiply(value, s, out=value)
        np.add(value, _G[-1], out=value)
        np.multiply(value, y, out=value)
        np.tanh(value, out=value)
