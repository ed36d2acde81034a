"""Words for what a tensor cannot take as an operand, the same in all backends."""

import numpy as np

from moonxi import shapes
from moonxi.dims import Dim
from moonxi.errors import OperandError


def kind(value: object) -> str:
    """The kind of an array's elements, as NumPy abbreviates it; for anything but an array, one that nobody takes."""
    return value.dtype.kind if isinstance(value, np.ndarray) else "?"


def described(value: object) -> str:
    """What an unsuitable operand is, in a few words."""
    if isinstance(value, np.ndarray):
        return f"ndarray of {value.dtype} {shapes.show(value.shape)}"
    dtype = getattr(value, "dtype", None)
    return f"{type(value).__name__}[{dtype.__name__}]" if isinstance(dtype, type) else type(value).__name__


def same_kind(one: object, other: object) -> bool:
    """Whether two tensors are of one class and element type."""
    return type(one) is type(other) and getattr(one, "dtype", None) is getattr(other, "dtype", None)


def number(operation: str, name: str, value: object) -> None:
    """Raise `OperandError` for what is no Python number: a text, an array, nothing at all."""
    if not isinstance(value, int | float | Dim):
        raise OperandError(f"{operation}: {name}={value!r:.60}: expected a Python number{advice(value)}")


def advice(value: object) -> str:
    """What to do with it."""
    if isinstance(value, np.ndarray):
        return "; bring the array in with x.from_host(array)"
    if isinstance(value, np.generic):
        return "; give a Python number, float(value)"
    return ""
