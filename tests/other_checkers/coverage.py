"""How much of the must-fail suite a checker sees."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.other_checkers.checkers import CHECKOUT, Found

SUITE = CHECKOUT / "typecheck_tests"
_CODE = re.compile(r"# E: \[([a-z0-9-]*)\]")


@dataclass(frozen=True)
class Case:
    """A wrong program, the lines of each statement in it that must be rejected, and those of its right twin."""

    name: str
    file: str
    wrong: list[range]
    right: range | None
    codes: list[str]


def cases(file: Path) -> list[Case]:
    """The cases of a file written by hand."""
    text = file.read_text(encoding="utf-8")
    functions = {one.name: one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
    lines = {name: range(one.lineno, (one.end_lineno or one.lineno) + 1) for name, one in functions.items()}
    path = file.relative_to(CHECKOUT).as_posix()
    marked = _marked(text)
    found = list[Case]()
    for name, function in functions.items():
        if name.startswith("wrong_"):
            case = name.removeprefix("wrong_")
            right = lines.get(f"right_{case}") or lines.get(f"right_gpu_{case}")
            statements = [_statement(function, line) for line in marked if line in lines[name]]
            codes = [code for line in lines[name] for code in _CODE.findall(text.splitlines()[line - 1])]
            found.append(Case(case, path, statements, right, codes))
    return found


def generated() -> list[Path]:
    """The files of the matrix of operations, written where the suite writes them."""
    sys.path.insert(0, str(SUITE))
    try:
        import matrix  # type: ignore[import-not-found, unused-ignore]  # it lies in the folder that was added
    finally:
        sys.path.remove(str(SUITE))
    folder = SUITE / "generated"
    folder.mkdir(exist_ok=True)
    files: list[Path] = matrix.write(folder)
    return files


def marked_lines(file: Path) -> list[int]:
    """The lines of a file that must be rejected."""
    return _marked(file.read_text(encoding="utf-8"))


def seen(case: Case, reported: Iterable[Found]) -> bool:
    """Whether each statement that must be rejected is."""
    lines = {one.line for one in reported if one.file == case.file}
    return bool(case.wrong) and all(any(line in lines for line in statement) for statement in case.wrong)


def disturbed(case: Case, reported: Iterable[Found]) -> bool:
    """Whether the right twin is rejected."""
    return any(one.file == case.file and case.right is not None and one.line in case.right for one in reported)


def _marked(text: str) -> list[int]:
    """A mark on a line of its own belongs to the line of code above it."""
    found, code = list[int](), 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            code = number
        if "# E: [" in line and code not in found:
            found.append(code)
    return found


def _statement(function: ast.FunctionDef, line: int) -> range:
    """The lines of the smallest statement around a line; of one with a body, those of its head."""

    def spans() -> Iterator[range]:
        for node in ast.walk(function):
            if isinstance(node, ast.stmt):
                body: list[ast.stmt] = getattr(node, "body", [])
                yield range(node.lineno, body[0].lineno if body else (node.end_lineno or node.lineno) + 1)

    around = [span for span in spans() if line in span]
    return min(around, key=len) if around else range(line, line + 1)
