"""`Formula`: several element-wise operations as one, for a tensor class that computes them in one go.

Values are numbered: the operands first, then the result of each step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Protocol, Self, override, runtime_checkable

type Term = int | str
"""A value by its number, or a number as ``float.hex`` writes it, which tells 0.0 from -0.0."""

ELEMENTWISE: Final = frozenset(
    {
        "__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "__neg__", "__lt__", "__le__", "__gt__", "__ge__",
        "equal", "maximum", "where", "exp", "log", "expm1", "log1p", "sin", "cos", "erf", "tanh", "sqrt", "floor",
        "square", "relu",
    }
)  # fmt: skip
"""The operations that a step may be, by the names that they have in the traits."""
SWAPPED: Final = {"__radd__": "__add__", "__rsub__": "__sub__", "__rmul__": "__mul__", "__rtruediv__": "__truediv__",
                  "__rpow__": "__pow__"}  # fmt: skip
"""Operations of which the formula has the one beside, with its terms exchanged."""
COMPARISONS: Final = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "equal"})
"""Those whose result is a mask."""


class Kind(Enum):
    """How an operand stands to the shape of the formula."""

    EACH = "it has this shape"
    ONE = "it is a single element"
    AXIS = "it is broadcast, and goes along one axis"


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: ``where`` takes what is chosen first, then the mask, then the other."""

    operation: str
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """Steps on operands, and what comes of them."""

    kinds: tuple[Kind, ...]
    """Of each operand."""
    masks: tuple[bool, ...]
    """Whether it is a mask."""
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    """The values that are kept, element by element."""
    sums: tuple[int, ...]
    """The values whose sum over all elements is kept, as a tensor of no axes."""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Formulas are looked up at each call, and some have hundreds of steps.
        parts = (self.kinds, self.masks, self.steps, self.results, self.sums)
        object.__setattr__(self, "_hash", hash(parts))

    @override
    def __hash__(self) -> int:
        return self._hash

    def is_mask(self, value: int) -> bool:
        """Whether a value is one of true and false."""
        count = len(self.kinds)
        return self.masks[value] if value < count else self.steps[value - count].operation in COMPARISONS


@runtime_checkable
class WithFormulas(Protocol):
    """A tensor class that computes formulas."""

    def fused(self, formula: Formula, /, *members: Sequence[Self]) -> tuple[Self, ...]:
        """The formula of each member, which is a list of operands: results and then sums of the first, and so on."""
        ...
