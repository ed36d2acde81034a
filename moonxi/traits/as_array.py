"""What is said where something would turn into a NumPy array by itself."""

from typing import NoReturn

from moonxi.errors import OperandError
from moonxi.shapes import Sizes, show


def refuse(value: object, shape: Sizes) -> NoReturn:
    """Refuse ``numpy.asarray(value)``."""
    raise OperandError(
        f"numpy.asarray: {type(value).__name__} {show(shape)}: NumPy would copy it without a word; "
        "write the copy down, x.to_host()"
    )
