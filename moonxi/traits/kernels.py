"""Kernels: operations of a tensor class on memory that is already there, for whoever plans memory ahead.

A class on the host that has them has a method ``kernel``; its kind says how a kernel is called. Its method ``routine``
gives what computes several operations together.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from moonxi.dtypes import HostArray
from moonxi.traits.notation import Shape


class Kind(Enum):
    """How a kernel is called. Its arguments are those of the operation, with arrays for tensors, labels and masks."""

    ELEMENTWISE = "call(*arguments, out=out): one element at a time, operands broadcast, and out may be an operand"
    INTO = "call(*arguments, out=out): out shares no memory with an operand"
    VIEW = "call(*arguments): the same elements, without a copy where there is such an array"


@dataclass(frozen=True, slots=True)
class Form:
    """What is known of an array before it is there."""

    shape: Shape
    dtype: np.dtype[np.generic]


class Call(NamedTuple):
    """A function with its arguments."""

    function: Callable[..., object]
    arguments: tuple[object, ...]
    out: object = None
    """What is given as ``out=``, if anything."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """An operation on arrays."""

    kind: Kind
    call: Callable[..., object]
    swapped: bool = False
    """Whether the two operands stand the other way round."""
    direct: Callable[..., Sequence[Call] | None] | None = None
    """Calls that do the same in turn, with less around them, or None.

    It is called as the kernel, before there is anything to compute, with a `Form` for each array that is not in the
    same memory each time; where this very form stands among the arguments of a call, that array is meant."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a routine is to compute: from which arrays, and which results somebody needs."""

    operands: Sequence[Form]
    results: Sequence[Form | None]
    options: dict[str, object]
    numba: bool
    """Whether Numba may be used."""
    large_tiles: bool = True
    """Whether convolutions may take fewer multiplications at the cost of larger rounding errors."""


type Routine = Callable[..., None]
"""Called with the operands and ``out=``, a tuple of an array or None for each result; they share no memory."""
type Maker = Callable[[Request], Routine | None]
"""The routine for a request; None if the nodes one by one are as good."""


@dataclass(frozen=True, slots=True)
class Register:
    """A value within a program: an operand, or the result of a step."""

    number: int


@dataclass(frozen=True, slots=True)
class Step:
    """An element-wise operation within a program."""

    operation: str
    arguments: tuple[Register | float, ...]
    mask: bool
    """Whether it gives a mask."""


@dataclass(frozen=True, slots=True)
class Program:
    """Element-wise operations on arrays of one length, one after the other: what routine ``elementwise`` computes.

    Registers are first the arrays, then the scalars, which are arrays without axes, then the results of the steps."""

    arrays: int
    scalars: int
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    """Registers that somebody needs."""


@runtime_checkable
class WithKernels(Protocol):
    """A tensor whose elements are a NumPy array, of a class with kernels."""

    @property
    def data(self) -> HostArray: ...
    @classmethod
    def kernel(cls, operation: str, /) -> Kernel | None: ...
    @classmethod
    def routine(cls, name: str, operations: Collection[str], /) -> Maker | None:
        """Makes the routine of this name, which stands for these operations; None if there is none for this class."""
