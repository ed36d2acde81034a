"""Makes docs/bug-suite.md from the bug suite: what becomes of each real mistake.

    python typecheck_tests/bug_table.py

A function of ``bugs/`` is called ``wrong_b010_...`` with a ``right_b010_...`` beside it, or ``impossible_b019_...``.
Its docstring says what went wrong in one sentence, and when PyTorch notices. The marks of lines say the rest.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import expectations

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "bug-suite.md"
REJECTED, IMPOSSIBLE, CAUGHT = "rejected by mypy", "impossible by construction", "caught at run time"
_NAME = re.compile(r"(?P<kind>wrong|impossible)_(?P<number>b\d{3})_(?P<title>\w+)$")
_NOTICES = "PyTorch notices: "
_RUN = re.compile(r"#\s*R:\s*(?P<error>\w+): (?P<message>.*)$")
_HEAD: Final = f"""# The bug suite

Mistakes that people made in training code and reported in public, written as they would be written with moonxi. What
became of each is one of three things, which are counted apart:

- *{REJECTED}*: the line is an error before anything runs. That a name is not there does not count.
- *{IMPOSSIBLE}*: there is no way to write it. A test shows what the program does that looks most like it.
- *{CAUGHT}*: it depends on values. A test holds the line and the words of the error.

Each wrong program that can be written stands beside its right twin in `typecheck_tests/bugs/`; mypy passes the twin,
and the tests run it. "PyTorch notices" is when the one who reported it was told by PyTorch that something is wrong.

Written by `python typecheck_tests/bug_table.py`; a test fails when it is out of date.
"""


@dataclass(frozen=True)
class Raised:
    """What a line is marked to raise when the program runs."""

    line: int
    error: str
    message: str


@dataclass(frozen=True)
class Bug:
    """A mistake, and what becomes of it."""

    number: str
    category: str
    function: str
    line: int
    story: str
    notices: str
    kind: str
    codes: tuple[str, ...]
    """Of mypy's errors."""
    raises: tuple[Raised, ...]
    """What happens when the program runs."""


def bugs() -> list[Bug]:
    """All of them, in order."""
    found = [bug for file in sorted((HERE / "bugs").glob("*.py")) for bug in _in_file(file)]
    return sorted(found, key=lambda bug: bug.number)


def problems() -> list[str]:
    """Functions of the suite that the table cannot speak of."""
    found: list[str] = []
    seen: dict[str, str] = {}
    for bug in bugs():
        place = f"{bug.category}.py:{bug.line}: {bug.function}"
        if not bug.story or not bug.notices:
            found.append(f'{place}: the docstring is a sentence on what went wrong, and "{_NOTICES}..."')
        if bug.number in seen:
            found.append(f"{place}: the number is also that of {seen[bug.number]}")
        seen[bug.number] = place
    return found


def page() -> str:
    """The whole page."""
    found = bugs()
    counts = {kind: sum(bug.kind == kind for bug in found) for kind in (REJECTED, IMPOSSIBLE, CAUGHT)}
    parts = [_HEAD, "| | mistakes | of all |", "|---|---|---|"]
    parts += [f"| {kind} | {number} | {100 * number / len(found):.0f} % |" for kind, number in counts.items()]
    parts += [f"| all | {len(found)} | |", ""]
    silent = sum(bug.notices.startswith(("never", "warns")) for bug in found)
    parts += [f"Of {silent} of them PyTorch says nothing, or no more than a warning.", ""]
    for category in dict.fromkeys(bug.category for bug in found):
        parts += [f"## {category.replace('_', ' ').capitalize()}", ""]
        parts += ["| | what went wrong | PyTorch notices | with moonxi |", "|---|---|---|---|"]
        for bug in found:
            if bug.category == category:
                names = [*bug.codes, *(one.error for one in bug.raises)]
                answer = ": ".join([bug.kind, ", ".join(f"`{one}`" for one in names)] if names else [bug.kind])
                parts.append(f"| {bug.number} | {bug.story} | {bug.notices} | {answer} |")
        parts.append("")
    return "\n".join(parts)


def _in_file(file: Path) -> list[Bug]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    marks = expectations.read([file])
    matches = ((n, _RUN.search(line)) for n, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1))
    raised = [Raised(number, one["error"], one["message"]) for number, one in matches if one is not None]
    return [bug for node in functions if (bug := _bug(file, node, marks, raised)) is not None]


def _bug(
    file: Path, node: ast.FunctionDef, marks: Sequence[expectations.Expected], raised: Sequence[Raised]
) -> Bug | None:
    name = _NAME.match(node.name)
    if name is None:
        return None
    story, _, notices = (ast.get_docstring(node) or "").partition(f"\n\n{_NOTICES}")
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    codes = tuple(dict.fromkeys(one.code for one in marks if one.line in lines))
    kind = IMPOSSIBLE if name["kind"] == "impossible" else REJECTED if codes else CAUGHT
    return Bug(
        number=name["number"].upper(),
        category=file.stem,
        function=node.name,
        line=node.lineno,
        story=" ".join(story.split()),
        notices=" ".join(notices.split()),
        kind=kind,
        codes=codes,
        raises=tuple(one for one in raised if one.line in lines),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
