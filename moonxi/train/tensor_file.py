"""What is in a safetensors file, from its header alone."""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Final

from safetensors import SafetensorError, safe_open

from moonxi.errors import CheckpointError
from moonxi.whole_file import reason

_BITS: Final = {"BOOL": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of a file."""

    name: str
    dtype: str
    """As the format spells it: ``F32``, ``BF16``, ``I64``, ..."""
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Its size in bytes; that of an integer is in its name."""
        digits = self.dtype.lstrip("IU")
        bits = _BITS.get(self.dtype) or (int(digits) if digits.isdecimal() else 0)
        return self.elements * bits // 8


def stored_tensors(path: Path, /) -> list[StoredTensor]:
    """The tensors of a file in the order of their names, without reading them.

    Raises `CheckpointError` if it cannot be read, or is no whole safetensors file."""
    try:
        with path.open("rb"):  # for the reason in words: the library knows only some
            pass
        with safe_open(path, "np") as file:
            slices = {name: file.get_slice(name) for name in sorted(file.keys())}
            return [StoredTensor(name, one.get_dtype(), tuple(one.get_shape())) for name, one in slices.items()]
    except SafetensorError as error:
        raise CheckpointError(f"inspect: {path}: not a whole safetensors file: {error}") from error
    except (OSError, ValueError) as error:
        raise CheckpointError(f"inspect: {path}: cannot be read: {reason(error)}") from error
