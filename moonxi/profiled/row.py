"""`Row`: what a profile says of one operation, and the rows as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

type Direction = Literal["forward", "backward", "section"]
"""Where a call was made: in a backward pass or not; or that it is a section that somebody named."""

_HEAD = ("operation", "direction", "calls", "total ms", "self ms", "mean us", "share", "MB", "GFLOP/s")


@dataclass(frozen=True, slots=True)
class Row:
    """All calls of one operation in one direction. Times are in seconds."""

    operation: str
    direction: Direction
    calls: int
    total: float
    """From begin to end; of a call within a call of the same row, nothing."""
    own: float
    """``total`` without the time in other calls that are in the profile: these add up to the time of the profile."""
    share: float
    """``own`` as a part of the time of the profile, 0 to 1."""
    bytes: int
    """Of all operands and results."""
    flops: int
    """Floating-point operations, 0 if not known: known of matrix products and convolutions, two a multiply-add."""

    @property
    def mean(self) -> float:
        """Seconds a call."""
        return self.total / self.calls

    @property
    def flops_per_second(self) -> float | None:
        """Floating-point operations a second, or None if not known."""
        return self.flops / self.total if self.flops and self.total else None


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text, with a last line of the sums."""
    cells = [_HEAD, *map(_cells, rows)]
    calls, seconds = sum(row.calls for row in rows), sum(row.own for row in rows)
    cells.append(("all", "", str(calls), "", f"{seconds * 1e3:.3f}", "", "", "", ""))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) if n < 2 else cell.rjust(width) for n, (cell, width) in enumerate(aligned))
        for aligned in (zip(line, widths, strict=True) for line in cells)
    )
    return "\n".join(line.rstrip() for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    rate = row.flops_per_second
    return (
        row.operation,
        row.direction,
        str(row.calls),
        f"{row.total * 1e3:.3f}",
        f"{row.own * 1e3:.3f}",
        f"{row.mean * 1e6:.1f}",
        f"{row.share:.1%}",
        f"{row.bytes / 1e6:.3f}" if row.bytes else "",
        "" if rate is None else f"{rate / 1e9:.2f}",
    )
