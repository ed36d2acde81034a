"""Lines of the kernels of waves that compute one element of an array, and where arrays lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from moonxi.backends.cupy.device import LABEL_OPERATIONS
from moonxi.backends.cupy.formula_source import assignment
from moonxi.backends.cupy.layouts import Strides, broadcast, merged, row_major
from moonxi.dtypes import F64, DType
from moonxi.traits import Shape
from moonxi.waves import Holds, Step, Task, Waves, root

THREADS: Final = 256
"""LANES of kernels/waves.cuh."""
_ARENA: Final = 40 << 10
"""Bytes of shared memory that a kernel has for what it computes with, at most."""


class Arrays:
    """The arrays of a kernel, and what its tasks need together: they have the same shared memory, one after the other.

    Arrays in memory are called ``x`` and their number where they are read and ``y`` where they are written."""

    def __init__(self, waves: Waves, strides: Sequence[Strides], element: type[DType], processors: int) -> None:
        self.waves, self.processors = waves, processors
        self.numbers = _ARENA // (8 if element is F64 else 4)
        """Numbers that shared memory has room for."""
        self.arena = 1
        """Those that are needed."""
        self.scalars: set[int] = set()
        """Values that every thread has at hand."""
        self._strides = dict(enumerate(strides))

    def strides(self, number: int) -> Strides:
        """How a value lies: an operand as it came, a view accordingly, and anything else in order."""
        value = self.waves.values[number]
        if value.base is None:
            return self._strides.get(number, row_major(value.shape))
        own = self.strides(value.base)
        if value.axes is not None:
            return tuple(own[axis] for axis in value.axes)
        sizes = self.waves.values[value.base].shape
        real = iter([stride for stride, size in zip(own, sizes, strict=True) if size != 1])
        return tuple(0 if size == 1 else next(real) for size in value.shape)

    def pointer(self, number: int) -> str:
        """The array that a value is read from."""
        return f"x{root(self.waves.values, number)}"

    def loaded(self, number: int, offset: str) -> str:
        """An element of a value in memory."""
        holds = self.waves.values[number].holds
        at = f"{self.pointer(number)}[{offset}]"
        return {Holds.NUMBERS: f"load({at})", Holds.MASK: f"{at} != 0", Holds.LABELS: at}[holds]

    def stored(self, number: int, offset: str) -> str:
        """Put an element of a value into memory."""
        if self.waves.values[number].holds is Holds.MASK:
            return f"y{number}[{offset}] = v{number};"
        return f"keep(v{number}, y{number}[{offset}]);"


class Element:
    """Lines that compute steps for one element: ``f`` is its place in the result, in order of rows."""

    def __init__(self, kernel: Arrays, place: str, shared: Mapping[int, str] | None = None) -> None:
        self._kernel, self._place, self._shared = kernel, place, {} if shared is None else shared
        self.lines: list[str] = []
        self.known: set[int] = set()
        self.from_shared: set[int] = set()
        self.scalars: set[int] = set()

    def take(self, number: int, shape: Shape, own: Shape | None = None) -> None:
        """Have a value at hand for an element of a result of this shape, to which it is broadcast."""
        if number in self.known:
            return
        if number in self._kernel.scalars:
            self.scalars.add(number)
            return
        self.known.add(number)
        holds = self._kernel.waves.values[number].holds
        cls = {Holds.NUMBERS: "A", Holds.MASK: "bool", Holds.LABELS: "i64"}[holds]
        if number in self._shared:
            self.from_shared.add(number)
            line = f"{self._shared[number]}{' != 0' if holds is Holds.MASK else ''}"
        else:
            strides = self._kernel.strides(number)
            own_shape = self._kernel.waves.values[number].shape
            if own is not None:
                own_shape, strides = own, (*strides, 0)
            if prod(own_shape) == 1:  # which may have more axes than the result, if that is one element too
                line = self._kernel.loaded(number, "0")
            else:
                line = self._kernel.loaded(number, offset(shape, broadcast(own_shape, strides, shape), self._place))
        self.lines.append(f"{cls} v{number} = {line};")

    def add(self, step: Step) -> None:
        """Compute a step."""
        shape = self._kernel.waves.values[step.result].shape
        for term in step.terms:
            if isinstance(term, int):
                own = self._kernel.waves.values[term].shape
                self.take(term, shape, (*own, 1) if step.operation == "put" else None)
        if step.operation == "put":
            x, label = step.terms
            classes, place = shape[-1], self._place
            number = LABEL_OPERATIONS.index("put")
            self.lines += [
                f"A v{step.result} = v{label} == (i64)({place} % {classes}) ? v{x} : (A)0;",
                f"if ({place} % {classes} == 0) is_class(v{label}, {classes}, {place} / {classes}, {number}, fault);",
            ]
        else:
            self.lines.append(assignment(step, step.result))
        self.known.add(step.result)


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a task, and how many blocks it is for; ``@PARTS`` in it is where its sums of parts begin."""

    text: str
    blocks: int
    scalars: set[int]
    """Those that it needs."""


def finish(task: Task, lines: Sequence[str], blocks: int, scalars: set[int]) -> Written:
    """A task of these lines, with the totals before and after."""
    text = [f"A total{total} = 0;" for _, total in task.totals]
    text += lines
    for n, (_, total) in enumerate(task.totals):
        text.append(f"add_up(total{total}, parts + @PARTS + {n * blocks} + own);")
    return Written("".join(f"            {line}\n" for line in text), blocks, scalars)


def offset(shape: Shape, strides: Strides, place: str) -> str:
    """Where the element at a place, in order of rows, of an array with these strides lies."""
    sizes, (steps,) = merged(shape, strides)
    terms = []
    inner = 1
    for number, (size, step) in reversed(list(enumerate(zip(sizes, steps, strict=True)))):
        if step:
            index = place if inner == 1 else f"{place} / {inner}"
            index = index if number == 0 else f"{index} % {size}"
            terms.append(f"({index})" if step == 1 else f"({index}) * {step}")
        inner *= size
    return " + ".join(terms) or "0"


def power(count: int) -> int:
    """The largest power of two that is not more."""
    return 1 << (count.bit_length() - 1)
