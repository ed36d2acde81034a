"""One call of one operation: its operands, how tensors of any interpreter do it, and how NumPy does it in float64."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from moonxi.traits import ImageModelTensor

type Float64s = NDArray[np.float64]
type Layout = Literal["plain", "transposed", "strided", "reversed", "offset", "repeated"]


@dataclass(frozen=True)
class Operand:
    """The elements of an operand, and how they are to lie in memory."""

    array: Float64s
    layout: Layout = "plain"

    def place[T: ImageModelTensor](self, like: T) -> T:
        """A tensor with these elements; the layout is made with the trait's own operations, so every backend has it."""
        array = self.array
        match self.layout:
            case "plain":
                return like.from_host(array)
            case "transposed":
                return like.from_host(array.T).permute(tuple(reversed(range(array.ndim))))
            case "strided":
                return like.from_host(np.repeat(array, 2, axis=-1))[..., ::2]
            case "reversed":
                return like.from_host(array[::-1])[::-1]
            case "offset":
                return like.from_host(np.concatenate([array[..., :1], array], axis=-1))[..., min(1, array.shape[-1]) :]
            case "repeated":
                return like.from_host(array[:1]).broadcast_to(array.shape)


@dataclass(frozen=True)
class Case:
    """One call. ``call`` takes the operands as tensors, ``reference`` as arrays; both know the other arguments."""

    operands: tuple[Operand, ...]
    call: Callable[..., Any]
    reference: Callable[..., Any]
    same_bits: bool = True
    """Whether `Grad` does the call with that of its backend, not as derived, which may round otherwise."""

    def apply[T: ImageModelTensor](self, tensors: Sequence[T]) -> T:
        """The result for these operands. Masks, labels and numbers come back as tensors too."""
        result: T = self.call(*tensors)
        return result

    def expect(self, arrays: Sequence[Float64s]) -> Float64s:
        """NumPy's result for these operands."""
        return np.asarray(self.reference(*arrays), np.float64)


@dataclass(frozen=True)
class Operation:
    """A row of the table: a member of a trait, and how its calls are drawn."""

    name: str
    member: str
    cases: SearchStrategy[Case]
    smooth: bool = True
    """Whether the result depends on the operands in a differentiable way; if not, it is a constant under `Grad`."""
