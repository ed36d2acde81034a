"""The numbers that a loss gives."""

from typing import Any

from moonxi.errors import OperandError, OptionError
from moonxi.shapes import fail


def values_of(result: Any, /) -> dict[str, float]:
    """The loss and the named scalars as numbers."""
    value, named = result if isinstance(result, tuple) else (result, {})
    if "loss" in named:
        raise OptionError("loss: the named value 'loss' would hide the loss itself: give it another name")
    for name, tensor in {"loss": value, **named}.items():
        if not hasattr(tensor, "shape"):
            raise OperandError(f"loss ({name}): {type(tensor).__name__}: expected a scalar tensor, without .item()")
    for name, tensor in named.items():
        if tensor.shape != ():
            fail(f"loss ({name})", str(tensor.shape), "the named values beside a loss are scalars; use .mean()")
    return {"loss": value.item(), **{name: tensor.item() for name, tensor in named.items()}}
