"""Measurements as rows, as JSON and as tables to read."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Self


@dataclass(frozen=True, order=True)
class Spread:
    """The median over all rounds, with the smallest and the largest."""

    median: float
    min: float
    max: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """That of the given values, one a round."""
        return cls(median(values), min(values), max(values))

    def text(self, scale: float = 1.0) -> str:
        """Such as ``0.84 (0.80-0.95)``."""
        return f"{self.median * scale:.3g} ({self.min * scale:.3g}-{self.max * scale:.3g})"


@dataclass(frozen=True)
class Row:
    """One system at one workload. ``ratio`` is its time over that of ``relative_to``, round by round."""

    group: str
    workload: str
    threads: int
    system: str
    ms: Spread
    relative_to: str
    ratio: Spread

    def record(self) -> dict[str, object]:
        """The row as it stands in the JSON file."""
        return {
            "group": self.group,
            "workload": self.workload,
            "threads": self.threads,
            "system": self.system,
            **{f"ms_{name}": round(value, 6) for name, value in asdict(self.ms).items()},
            "relative_to": self.relative_to,
            **{f"ratio_{name}": round(value, 4) for name, value in asdict(self.ratio).items()},
        }


@dataclass(frozen=True)
class Report:
    """All rows of a run, and under which circumstances they were measured."""

    title: str
    circumstances: dict[str, object]
    rows: list[Row]

    def json(self) -> str:
        """For programs: the circumstances, and a list of rows."""
        return json.dumps({**self.circumstances, "rows": [row.record() for row in self.rows]}, indent=1) + "\n"

    def markdown(self) -> str:
        """For readers: a table for each group."""
        lines = [f"# {self.title}", ""]
        lines += ["Each cell: the median over the rounds (the smallest-the largest).", ""]
        lines += [f"- {name}: {_plain(value)}" for name, value in self.circumstances.items()]
        for group in dict.fromkeys(row.group for row in self.rows):
            lines += ["", *_table(group, [row for row in self.rows if row.group == group])]
        return "\n".join(lines) + "\n"


def _table(group: str, rows: list[Row]) -> list[str]:
    """A line for each workload and number of threads: the times of the systems, then the ratios."""
    scale, unit = (1.0, "ms") if rows[0].ms.median > 0.1 else (1e3, "us")
    systems = list(dict.fromkeys(row.system for row in rows))
    reference = rows[0].relative_to
    compared = [system for system in systems if system != reference]
    lines = [f"## {group} ({unit})", ""]
    lines.append(_line("workload", "threads", *systems, *(f"{system} / {reference}" for system in compared)))
    lines.append(_line(*["---"] * (2 + len(systems) + len(compared))))
    for workload, threads in dict.fromkeys((row.workload, row.threads) for row in rows):
        here = {row.system: row for row in rows if (row.workload, row.threads) == (workload, threads)}
        times = [here[system].ms.text(scale) for system in systems]
        lines.append(_line(workload, str(threads), *times, *(here[system].ratio.text() for system in compared)))
    return lines


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(value: object) -> str:
    return ", ".join(f"{name} {text}" for name, text in value.items()) if isinstance(value, dict) else str(value)
