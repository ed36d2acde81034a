"""Makes the table in docs/other-checkers.md: how much of the must-fail suite each checker sees.

python -m tests.other_checkers.table
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tests.other_checkers import checkers, coverage
from tests.other_checkers.checkers import CHECKOUT, Found
from tests.other_checkers.coverage import Case

PAGE: Final = CHECKOUT / "docs" / "other-checkers.md"
_TABLE = re.compile(r"^\| What is wrong .*?\n(?!\|)", re.MULTILINE | re.DOTALL)
KINDS: Final = {
    "tensor-mix": "tensor classes that meet in one call (`tensor-mix`)",
    "tensor-": "shapes (`tensor-shape` and its like)",
    "": "everything else (`arg-type`, `operator`, ...)",
}
"""The first of these that a code of the case begins with says of what kind it is."""
MATRIX: Final = {
    "matrix_methods.py": "each operation with an operand of a wrong class",
    "matrix_generic.py": "the same through a function generic in `T`",
}


def table(reported: Mapping[str, Sequence[Found]]) -> str:
    """The table, from what each checker reports of the whole suite."""
    files = sorted((coverage.SUITE / "cases").glob("*.py"))
    every = [case for file in files for case in coverage.cases(file)]
    lines = [f"| What is wrong | mypy with the plugin | {' | '.join(reported)} |"]
    lines.append(f"|:--|{'--:|' * (1 + len(reported))}")
    for kind, title in KINDS.items():
        of_kind = [case for case in every if _kind(case) == kind]
        seen = [sum(coverage.seen(case, found) for case in of_kind) for found in reported.values()]
        lines.append(_row(title, len(of_kind), len(of_kind), *seen))
    for file in coverage.generated():
        if file.name in MATRIX:
            marked = set(coverage.marked_lines(file))
            seen = [len(marked & _lines(file.name, found)) for found in reported.values()]
            lines.append(_row(MATRIX[file.name], len(marked), len(marked), *seen))
    disturbed = [sum(coverage.disturbed(case, found) for case in every) for found in reported.values()]
    lines.append(_row("*right programs that are rejected*", len(every), 0, *disturbed))
    return "\n".join(lines) + "\n"


def reports() -> dict[str, list[Found]]:
    """What each checker reports of the suite, by its name and version."""
    files = [*sorted((coverage.SUITE / "cases").glob("*.py")), *coverage.generated()]
    version = checkers.versions()
    return {
        f"mypy {version['mypy']} by itself": checkers.mypy(*files),
        f"pyright {version['pyright']}": checkers.pyright(*files),
        f"pyrefly {version['pyrefly']}": checkers.pyrefly(*files),
    }


def in_page(page: str, new: str) -> str:
    """The page with its table replaced."""
    return _TABLE.sub(lambda _: new, page)


def written(page: str) -> str:
    """The table that the page has."""
    found = _TABLE.search(page)
    assert found is not None
    return found[0]


def shares(text: str) -> dict[tuple[str, int], int]:
    """The percentages of a table, by row and column."""
    rows = [line.strip("|").split("|") for line in text.splitlines()[2:]]
    return {(row[0].strip(), n): int(one.strip(" %")) for row in rows for n, one in enumerate(row[1:])}


def _kind(case: Case) -> str:
    codes = [code for code in case.codes if code != "tensor-unused"]  # beside what the case is about
    return next(kind for kind in KINDS if any(code.startswith(kind) for code in codes))


def _lines(name: str, found: Iterable[Found]) -> set[int]:
    return {one.line for one in found if one.file.endswith(f"/{name}")}


def _row(title: str, programs: int, *numbers: int) -> str:
    return f"| {title} | {' | '.join(f'{100 * number / programs:.0f} %' for number in numbers)} |"


if __name__ == "__main__":
    PAGE.write_text(in_page(PAGE.read_text(encoding="utf-8"), table(reports())), encoding="utf-8")
