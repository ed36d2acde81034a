"""How functions are compiled. To import this imports Numba."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

# An optional dependency, so that type checkers do not get to see it.
_numba: Any = import_module("numba")
_FAST: Final = {"contract", "reassoc", "nsz", "arcp"}
"""Sums may run in any order; NaN and infinities are what they are."""


def compiled[**P, R](function: Callable[P, R], /) -> Callable[P, R]:
    """The function, compiled at its first call with arguments of each kind."""
    made: Callable[P, R] = _numba.njit(nogil=True, cache=True, fastmath=_FAST, error_model="numpy")(function)
    return made
