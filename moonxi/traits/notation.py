"""How shapes, axes and parts of tensors are written."""

from types import EllipsisType

type Shape = tuple[int, ...]
"""One size per axis; ``()`` is a scalar."""
type Axes = int | tuple[int, ...] | None
"""An axis, several axes, or ``None`` for all; negative ones count from the end."""
type Index = int | slice | EllipsisType | tuple[int | slice | EllipsisType | None, ...] | None
"""What stands between brackets: integers, slices, ``...`` and ``None`` for a new axis."""
type Widths = tuple[tuple[int, int], ...]
"""How many elements come before and after, for each axis."""
