"""Passes in one element type, weights in another."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from moonxi.dtypes import I64, Bool, DType
from moonxi.errors import OptionError


@dataclass(frozen=True, slots=True)
class Precision:
    """The element types of the passes and of the weights."""

    inner: type[DType]
    outer: type[DType]


def other_precision(model: Any, passes: Any, /) -> Precision:
    """That of passes like this tensor. Raises `OptionError` unless it is of the class of the model's parameters."""
    first = next(iter(model.named_tensors()[0].values()))
    if type(first) is not type(passes) or not hasattr(first, "cast"):
        raise OptionError(
            f"Trainer: passes={type(passes).__name__}[{passes.dtype.__name__}]: the parameters are "
            f"{type(first).__name__}[{first.dtype.__name__}]: expected that class, with another element type"
        )
    return Precision(passes.dtype, first.dtype)


def cast_all(value: Any, dtype: type[DType] | None, /) -> Any:
    """A model or a batch in another element type, None for as it is. Labels and masks have no other."""
    return value if dtype is None else value.map(partial(_cast, dtype))


def _cast(dtype: type[DType], tensor: Any) -> Any:
    return tensor if tensor.dtype in (I64, Bool) else tensor.cast(dtype)
