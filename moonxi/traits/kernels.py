"""Kernels: operations of a tensor class on memory that is already there, for whoever plans memory ahead.

A class on the host that has them has a method ``kernel``; its kind says how a kernel
is called.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from moonxi.dtypes import HostArray


class Kind(Enum):
    """How a kernel is called. Its arguments are those of the operation, with arrays for tensors, labels and masks."""

    ELEMENTWISE = "call(*arguments, out=out): one element at a time, operands broadcast, and out may be an operand"
    INTO = "call(*arguments, out=out): out shares no memory with an operand"
    VIEW = "call(*arguments): the same elements, without a copy where there is such an array"


@dataclass(frozen=True, slots=True)
class Kernel:
    """An operation on arrays."""

    kind: Kind
    call: Callable[..., object]
    swapped: bool = False
    """Whether the two operands stand the other way round."""
    more: tuple[float, ...] = ()
    """Operands that come after those of the operation."""


@runtime_checkable
class WithKernels(Protocol):
    """A tensor whose elements are a NumPy array, of a class with kernels."""

    @property
    def data(self) -> HostArray: ...
    @classmethod
    def kernel(cls, operation: str, /) -> Kernel | None: ...
