"""What lines are expected to be rejected, and how that compares with what mypy says."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_MARK = re.compile(r"#\s*E:\s*\[(?P<code>[a-z0-9-]*)\](?P<message>[^#]*)")
_ANY_MARK = re.compile(r"#\s*E:")
_OURS = "tensor-"
# The program would fail to name the thing at all: that says nothing about types that do not go together.
_NO_REJECTIONS = ("attr-defined", "name-defined")


@dataclass(frozen=True, order=True, slots=True)
class Expected:
    """An error that a line is marked to have."""

    file: Path
    line: int
    code: str
    message: str


@dataclass(frozen=True, order=True, slots=True)
class Reported:
    """An error that mypy reports."""

    file: Path
    line: int
    code: str
    message: str


def read(files: Iterable[Path]) -> list[Expected]:
    """The marks in the files. One on a line of its own belongs to the line of code above it."""
    found: list[Expected] = []
    for file in files:
        place = 0
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if not line.lstrip().startswith("#"):
                place = number
            found += [Expected(file, place, one["code"], one["message"].strip()) for one in _MARK.finditer(line)]
    return found


def differences(expected: Iterable[Expected], reported: Iterable[Reported]) -> list[str]:
    """One line for each way in which the two differ, and for each mark that may not be."""
    wanted, got = (
        defaultdict[tuple[Path, int], list[Expected]](list),
        defaultdict[tuple[Path, int], list[Reported]](list),
    )
    found: list[str] = []
    for one in sorted(set(expected)):
        wanted[one.file, one.line].append(one)
        if one.code in _NO_REJECTIONS:
            found.append(f"{_place(one)}: [{one.code}] is no rejection: it says that a name is not there")
        if one.code.startswith(_OURS) and not one.message:
            found.append(f"{_place(one)}: [{one.code}] needs a part of its message")
    for error in sorted(set(reported)):
        got[error.file, error.line].append(error)
    for place in sorted({*wanted, *got}):
        left = list(got[place])
        for one in wanted[place]:
            match = next((error for error in left if error.code == one.code and one.message in error.message), None)
            if match is None:
                found.append(f"{_place(one)}: expected [{one.code}] {one.message}")
            else:
                left.remove(match)
        found += [f"{_place(error)}: unexpected [{error.code}] {error.message}" for error in left]
    return found


def malformed(files: Iterable[Path]) -> list[str]:
    """Marks that cannot be read."""
    return [
        f"{file.name}:{number}: a mark is written as # E: [code] part of the message"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(_ANY_MARK.findall(line)) != len(_MARK.findall(line))
    ]


def _place(one: Expected | Reported) -> str:
    return f"{one.file.name}:{one.line}"
