"""The settings of a run as JSON, to be stored beside a model and compared with those of the run that resumes."""

from collections.abc import Mapping, Sized
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np

from moonxi.data import DataLoader
from moonxi.json_fields import Json, number
from moonxi.shapes import show
from moonxi.traits import Tensor


def described(value: object, /) -> Json:
    """A setting as JSON: numbers and texts as they are, dataclasses by class and fields, functions by their names.

    Of a model's tensors only the shapes are settings."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Tensor):
        return f"{value.dtype.name} {show(value.shape)}"
    if is_dataclass(value) and not isinstance(value, type):
        inner: dict[str, Json] = {one.name: described(getattr(value, one.name)) for one in fields(value)}
        return {"class": type(value).__qualname__, **inner}
    if isinstance(value, list | tuple):
        return [described(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): described(one) for key, one in value.items()}
    name = getattr(value, "__qualname__", None)
    return name if isinstance(name, str) else type(value).__qualname__


def described_data(data: Sized, /) -> Json:
    """What decides which batches there are, and in which order; how many threads make them does not."""
    if not isinstance(data, DataLoader):
        return {"class": type(data).__qualname__, "batches": len(data)}
    return {
        "class": "DataLoader",
        "batches": len(data),
        "samples": data.samples,
        "batch_size": data.batch_size,
        "seed": data.seed,
        "drop_last": data.drop_last,
    }


def differences(there: Json, here: Json, place: str = "", /) -> list[str]:
    """Where two settings differ: ``optimizer.lr: 0.1 there, 0.2 here``."""
    if isinstance(there, dict) and isinstance(here, dict):
        names = [*there, *(name for name in here if name not in there)]
        parts = [(f"{place}.{name}" if place else name, there.get(name), here.get(name)) for name in names]
        return [line for name, one, other in parts for line in differences(one, other, name)]
    nested = isinstance(there, list) and any(isinstance(one, dict | list) for one in there)
    if nested and isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = enumerate(zip(there, here, strict=True))
        return [line for at, (one, other) in pairs for line in differences(one, other, f"{place}[{at}]")]
    if there == here and isinstance(there, bool) == isinstance(here, bool):
        return []
    return [f"{place}: {_short(there)} there, {_short(here)} here"]


def _short(value: Json) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
