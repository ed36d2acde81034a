"""The graph of a step: what is computed from what, in an order that works, each with the user's line.

A node is one operation of the traits, or a `Key` folded, and nothing else. A value is known by its number; where a node
takes values, its arguments hold an `Operand`, and everything else in them is a setting.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import override

import numpy as np
from numpy.typing import NDArray

from moonxi.dtypes import DType
from moonxi.traits import Labels, Mask, Shape

type Holder = type[Labels] | type[Mask] | None  # type: ignore[type-arg]  # the class itself, of no particular carrier
"""What a value stands in where an operation takes or gives it: class indices, a mask, or itself."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value among the arguments of a node."""

    number: int
    holder: Holder = None


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """An array of the host among the arguments of a node: a copy that nobody changes."""

    data: NDArray[np.generic]

    @override
    def __repr__(self) -> str:
        return f"array of {self.data.dtype} {self.data.shape}"


@dataclass(frozen=True, slots=True)
class Spec:
    """What is known of a value before it is computed: shape and element type, or for a random key neither."""

    shape: Shape = ()
    dtype: type[DType] | None = None

    @property
    def bytes(self) -> int:
        """The size of the elements."""
        return 0 if self.dtype is None else int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @override
    def __str__(self) -> str:
        return "key" if self.dtype is None else f"{self.dtype.__name__}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the user's program."""

    file: str
    number: int

    @override
    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True)
class Node:
    """One operation: ``arguments[0]`` is the tensor whose method it is."""

    operation: str
    arguments: tuple[object, ...]
    options: tuple[tuple[str, object], ...]
    results: tuple[int, ...]
    holders: tuple[Holder, ...]
    """What each result stands in."""
    several: bool
    """Whether the method gives a tuple."""
    line: Line
    backward: bool = False
    """Whether it was recorded in a backward pass; the line is then that of the operation that is differentiated."""

    @property
    def inputs(self) -> tuple[int, ...]:
        """The numbers of the values that it takes, in order."""
        return tuple(operand.number for operand in operands((self.arguments, self.options)))

    @property
    def identity(self) -> object:
        """Equal for nodes that compute the same from the same values."""
        return self.operation, exact(self.arguments), exact(self.options)

    def renamed(self, names: Mapping[int, int]) -> "Node":
        """The same operation on other values: ``names`` says which stand for which."""

        def new(operand: Operand) -> Operand:
            return replace(operand, number=names.get(operand.number, operand.number))

        if not any(number in names for number in self.inputs):
            return self
        arguments, options = with_operands((self.arguments, self.options), new)
        return replace(self, arguments=arguments, options=options)


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole step. Values that are neither inputs nor constants are results of exactly one node, before their use."""

    inputs: tuple[int, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    specs: Mapping[int, Spec]
    constants: Mapping[int, object]
    """Tensors that are the same at each replay."""
    layouts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """The axes of a value as they lie in memory, the one with the largest steps first, as far as a plan knows."""
    together: Mapping[int, str] = field(default_factory=dict)
    """What computes a value together with others, where a plan does so: a name for each such group of operations."""

    def described(self, number: int) -> str:
        """What is known of a value: element type, shape, and its layout where that is not row by row."""
        order = self.layouts.get(number, ())
        if order == tuple(range(len(order))):
            return str(self.specs[number])
        return f"{self.specs[number]} {'channels last' if order == (0, 2, 3, 1) else f'axes {order}'}"

    @override
    def __str__(self) -> str:
        lines = [f"%{number} = input {self.described(number)}" for number in self.inputs]
        lines += [f"%{number} = constant {self.described(number)}" for number in self.constants]
        for node in self.nodes:
            results = ", ".join(f"%{number}" for number in node.results)
            kinds = ", ".join(self.described(number) for number in node.results)
            shown = [shown_argument(one) for one in node.arguments]
            shown += [f"{name}={shown_argument(one)}" for name, one in node.options]
            notes = f"{node.line}{' backward' if node.backward else ''}"
            if node.results[0] in self.together:
                notes += f", {self.together[node.results[0]]}"
            lines.append(f"{results} = {node.operation.strip('_')}({', '.join(shown)}) {kinds}  # {notes}")
        return "\n".join([*lines, f"return {', '.join(f'%{number}' for number in self.outputs)}"])


def shown_argument(argument: object) -> str:
    """An argument as the printed graph has it."""
    if isinstance(argument, Operand):
        return f"%{argument.number}"
    if isinstance(argument, tuple):
        inside = ", ".join(map(shown_argument, argument))
        return f"({inside},)" if len(argument) == 1 else f"({inside})"
    return repr(argument)


def operands(argument: object) -> Iterator[Operand]:
    """The values in arguments, in order."""
    if isinstance(argument, Operand):
        yield argument
    elif isinstance(argument, tuple):
        for one in argument:
            yield from operands(one)


def with_operands[A](argument: A, new: Callable[[Operand], object]) -> A:
    """The same arguments with something else for each value."""
    if isinstance(argument, Operand):
        return new(argument)  # type: ignore[return-value]  # what stands for a value is the caller's choice
    if isinstance(argument, tuple):
        return tuple(with_operands(one, new) for one in argument)  # type: ignore[return-value]  # the same structure
    return argument


def exact(value: object) -> object:
    """Something that can be hashed, and is equal only for values that nobody can tell apart.

    For Python 0.0 equals -0.0, 1 equals 1.0, and NaN is not equal to itself."""
    if isinstance(value, float):
        return float, value.hex()
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, tuple):
        return type(value), tuple(map(exact, value))
    if isinstance(value, Array):
        return Array, value.data.dtype.str, value.data.shape, value.data.tobytes()
    return type(value), value
