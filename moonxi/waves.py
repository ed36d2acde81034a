"""`Waves`: a part of a program on small tensors as few kernels, for a tensor class that runs them.

A wave is one kernel: tasks that do not depend on each other, each over rows of its own. What a task computes goes to
memory only where a later wave or a caller needs it. Values are numbered, the operands first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol, Self, runtime_checkable

from moonxi.formulas import Term

type Shape = tuple[int, ...]

ROWS: Final = 128
"""Blocks that rows are shared among."""
MOST_ROWS: Final = 4
"""Rows that a block of `Form.ROWS` has at most."""
BUDGET: Final = 3072
"""Numbers of one kind that such a block keeps at most: results of all steps, and sums that a product needs."""


class Holds(Enum):
    """What the elements of a value are."""

    NUMBERS = "numbers"
    MASK = "true or false"
    LABELS = "class indices"


@dataclass(frozen=True, slots=True)
class Value:
    """An operand, what a step computes, or a view: ``base`` permuted by ``axes``, or with other axes of size 1."""

    shape: Shape
    holds: Holds = Holds.NUMBERS
    base: int | None = None
    axes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One operation with one result.

    It is element-wise, as `moonxi.formulas` has them, or ``put``; or of whole rows: ``matmul``, ``log_softmax``,
    ``softmax``, ``pick``, ``sum`` and ``max`` along the last axis; or ``columns``, the sums along the first."""

    operation: str
    terms: tuple[Term, ...]
    result: int


class Form(Enum):
    """How the elements of a task are shared among blocks."""

    FLAT = "runs of elements, for element-wise steps"
    TILES = "tiles of rows and columns: a product, or sums of columns, and then element-wise steps"
    ROWS = "a few whole rows, which stay in a block from step to step"


@dataclass(frozen=True, slots=True)
class Task:
    """Steps over rows of one shape. ``totals`` are sums over all elements: the value, and the result without axes."""

    form: Form
    rows: int
    width: int
    """Of a tile task; 1 and the number of elements if it is flat."""
    steps: tuple[Step, ...]
    kept: tuple[int, ...]
    """What goes to memory."""
    totals: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Wave:
    """What one kernel computes: first totals of the wave before and ``scalars``, steps on single numbers."""

    scalars: tuple[Step, ...]
    tasks: tuple[Task, ...]
    kept: tuple[int, ...]
    """Of the totals and the scalars, what goes to memory."""


@dataclass(frozen=True, slots=True)
class Waves:
    """Waves, one after the other, and which values are given back."""

    values: tuple[Value, ...]
    operands: int
    """How many of the values are operands."""
    waves: tuple[Wave, ...]
    results: tuple[int, ...]


@runtime_checkable
class WithWaves(Protocol):
    """A tensor class that runs waves."""

    def waves(self, waves: Waves, /, *operands: Self) -> tuple[Self, ...]:
        """The results for operands of the shapes that the values say."""
        ...


def root(values: Sequence[Value], number: int, /) -> int:
    """The value in whose memory a view lies."""
    while (base := values[number].base) is not None:
        number = base
    return number


def addresses(waves: Waves, place: int, /) -> list[int]:
    """The values of which the kernel of a wave needs the address, each once."""
    wave = waves.waves[place]
    before = waves.waves[place - 1].tasks if place else ()
    numbers = {total for task in before for _, total in task.totals} | {step.result for step in wave.scalars}
    found: dict[int, None] = {}
    for steps, kept in ((wave.scalars, wave.kept), *((task.steps, task.kept) for task in wave.tasks)):
        own = {step.result for step in steps}
        taken = [term for step in steps for term in step.terms if isinstance(term, int)]
        found.update((root(waves.values, one), None) for one in taken if one not in own and one not in numbers)
        found.update((one, None) for one in kept)
    for task in wave.tasks:
        own = {step.result for step in task.steps}
        found.update((root(waves.values, one), None) for one, _ in task.totals if one not in own and one not in numbers)
    return list(found)


def rows_of_a_block(rows: int, /) -> int:
    """How many rows a block of `Form.ROWS` has."""
    return min(MOST_ROWS, -(-rows // ROWS))
