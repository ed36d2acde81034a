"""The page on errors of types: mypy says what it says, and the right programs are right and run."""

import re
import subprocess
import sys

import pytest

from tests.examples.program import CHECKOUT, environment
from tests.mypy_plugin.checking import Project, run

PAGE = (CHECKOUT / "docs" / "type-errors.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(_, CONFIGURATION), *PROGRAMS = BLOCKS
WRONG = [text for kind, text in PROGRAMS[::3] if kind == "python"]
REPORTS = [text for kind, text in PROGRAMS[1::3] if kind == "console"]
RIGHT = [text for kind, text in PROGRAMS[2::3] if kind == "python"]
NAMES = [text.splitlines()[0].removeprefix("# ").removesuffix(".py") for text in WRONG]


@pytest.fixture(name="page")
def _page(project: Project) -> Project:
    (project.folder / "mypy.ini").write_text(CONFIGURATION, encoding="utf-8")
    return project


def test_every_wrong_program_has_its_report_and_a_right_one() -> None:
    assert len(WRONG) == len(REPORTS) == len(RIGHT) == len(PROGRAMS) / 3
    assert [report.splitlines()[0] for report in REPORTS] == [f"$ mypy {name}.py" for name in NAMES]


def test_every_code_of_a_section_is_in_its_report() -> None:
    for section in PAGE.split("\n## ")[1:]:
        code = section.split("`")[1]
        report = next(text for kind, text in BLOCKS if kind == "console" and text in section)
        assert f"[{code}]" in report


def test_mypy_reports_what_the_page_says(page: Project) -> None:
    page.write(**dict(zip(NAMES, WRONG, strict=True)))
    for name, report in zip(NAMES, REPORTS, strict=True):
        done = run("-m", "mypy", "--cache-dir", "cache", f"{name}.py", folder=page.folder)
        assert done.stdout == report.partition("\n")[2]


def test_mypy_has_nothing_to_say_of_the_right_programs(page: Project) -> None:
    page.write(**dict(zip(NAMES, RIGHT, strict=True)))
    assert page.check().errors == []


@pytest.mark.parametrize("program", RIGHT, ids=NAMES)
def test_the_right_program_runs(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True)
