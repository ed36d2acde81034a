"""How a layer is printed: its layers and settings, and of its tensors the shapes."""

from dataclasses import fields, is_dataclass
from typing import Final

from moonxi import shapes
from moonxi.nn.state import State
from moonxi.traits import Tensor

_WIDTH: Final = 88
"""What is shorter than this stands on one line, and so does a layer that has no layers within."""
_LINES: Final = 60
"""More lines than these are counted instead."""


def shown(layer: object, /) -> str:
    """``Linear(weight=NpArray[F32] (3, 4), ...)``, on several lines if need be, and no more than fit on a page."""
    if not is_dataclass(layer) or isinstance(layer, type):
        return object.__repr__(layer)
    own = [one.name for one in fields(layer) if one.repr]
    values = [getattr(layer, name, None) for name in own]
    parts = [f"{name}={_text(value)}" for name, value in zip(own, values, strict=True)]
    innermost = not any(hasattr(value, "forward") or isinstance(value, tuple | list | dict) for value in values)
    lines = _joined(f"{type(layer).__name__}(", parts, ")", whole=innermost).splitlines()
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 2], f"  ... {len(lines) - _LINES + 1} more lines; summary() is a table", lines[-1]]
    return "\n".join(lines)


def _text(value: object) -> str:
    if isinstance(value, Tensor):
        element = getattr(value.dtype, "__name__", value.dtype)
        return f"{type(value).__name__}[{element}] {shapes.show(value.shape)}"
    if isinstance(value, State):
        return f"State({_text(value.value)})"
    if isinstance(value, tuple | list):
        start, end = ("(", ",)" if len(value) == 1 else ")") if isinstance(value, tuple) else ("[", "]")
        return _joined(start, [_text(one) for one in value], end)
    if isinstance(value, dict):
        return _joined("{", [f"{key!r}: {_text(one)}" for key, one in value.items()], "}")
    return repr(value)  # also of a layer, which may have its own way


def _joined(start: str, parts: list[str], end: str, *, whole: bool = False) -> str:
    line = f"{start}{', '.join(parts)}{end}"
    if (whole or len(line) <= _WIDTH) and "\n" not in line:
        return line
    inner = ",\n".join(parts).replace("\n", "\n  ")
    return f"{start}\n  {inner}\n{end}"
