"""Arrays from and for other libraries, by DLPack (https://dmlc.github.io/dlpack), always as copies."""

from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import CapsuleType

from moonxi.errors import OperandError

CPU = 1
"""kDLCPU."""


class SupportsDlpack(Protocol):
    """An array of another library."""

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, /, *, stream: None = None) -> CapsuleType: ...


def capsule(
    name: str, array: NDArray[np.generic], version: tuple[int, int] | None, device: tuple[int, int] | None, /
) -> CapsuleType:
    """The elements as a capsule that is its consumer's alone. Raises `BufferError` for another device."""
    if device is not None and tuple(device) != (CPU, 0):
        raise BufferError(f"{name}.__dlpack__: device {tuple(device)}: it lives on the host, device {(CPU, 0)}")
    numbers = cast(NDArray[np.number], np.array(array, order="C"))  # NumPy's stubs know no other elements here
    return numbers.__dlpack__(max_version=version)


def adopted(source: SupportsDlpack, dtype: np.dtype[np.floating], /) -> NDArray[np.floating]:
    """A copy of the elements of a host array, whose element type it must have."""
    name = f"{type(source).__module__.partition('.')[0]}.{type(source).__name__}"
    kind, index = source.__dlpack_device__()
    if kind != CPU:
        raise OperandError(
            f"from_dlpack: {name} on device {(int(kind), index)}: expected an array on the host, device {(CPU, 0)}; "
            "copy it there first"
        )
    try:
        array = np.from_dlpack(source)
    except (BufferError, RuntimeError) as error:
        raise OperandError(f"from_dlpack: {name}: cannot be had as an array of NumPy: {error}") from error
    if array.dtype != dtype:
        raise OperandError(
            f"from_dlpack: {name} of {array.dtype}: expected elements of {dtype}; convert it there first, "
            "or here with x.from_host(numpy.from_dlpack(source))"
        )
    return np.array(array, dtype=dtype, order="C")
