"""A fault as people make them, seeded into a copy of a file that is right."""

from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """One replacement of text. ``line`` is on the line that must be reported, and ``error`` in what is said there."""

    title: str
    before: str
    after: str
    line: str
    error: str

    def seeded(self, text: str) -> str:
        """The text with the fault in it."""
        assert text.count(self.before) >= 1, f"{self.title}: the file has no longer {self.before!r}"
        return text.replace(self.before, self.after, 1)

    def place(self, seeded: str) -> int:
        """The number of the line that must be reported."""
        numbers = [number for number, line in enumerate(seeded.splitlines(), 1) if self.line in line]
        assert len(numbers) == 1, f"{self.title}: {self.line!r} is on the lines {numbers}"
        return numbers[0]
