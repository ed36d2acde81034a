"""CONTRIBUTING.md on adding an operation, followed in a copy: its list of files is enough, and all are needed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.examples.program import CHECKOUT, environment

pytestmark = pytest.mark.slow

PARTS: Final = ("moonxi", "tests", "stubs", "docs", "examples", "mypy.ini", "pyproject.toml")
PAGE: Final = "docs/operations.md"
EDITS: Final = {
    "moonxi/traits/tensor.py": (
        "    def sqrt(self) -> Self:\n",
        '    def quartic(self) -> Self:\n        """Each element to the fourth power."""\n\n',
    ),
    "moonxi/traits/derived/elementwise.py": (
        "    def minimum(self, other",
        "    def quartic(self) -> Self:\n        return self.square().square()\n\n",
    ),
    "moonxi/profiled/elementwise.py": (
        "    @override\n    def relu(self)",
        '    @override\n    def quartic(self) -> Self:\n        return self.timed("quartic", self.value.quartic)\n\n',
    ),
    "tests/conformance/elementwise.py": (
        '    unary("square",',
        '    unary("quartic", lambda x: x.quartic(), lambda x: x**4),\n',
    ),
}
"""Of each file, before what it gets which lines: an operation of one operand, derived from another."""
OWN: Final = {
    "moonxi/backends/numpy/elementwise.py": (
        "    @override\n    def square(self)",
        "    @override\n    def quartic(self) -> Self:\n        return type(self)(np.square(np.square(self.data)))\n\n",
    ),
    "moonxi/autodiff/elementwise.py": (
        "    @override\n    def square(self)",
        """    @override
    def quartic(self) -> Self:
        x = self.value
        return self._unary(x.quartic(), lambda g: g * (x * x.square() * 4.0))

""",
    ),
}
"""The same for classes with ways of their own."""
TESTS: Final = (
    "tests/conformance/test_every_member.py",
    "tests/conformance/test_operations.py",
    "tests/conformance/test_derived.py",
    "tests/profiled/test_every_member.py",
    "tests/docs/test_operations_table.py",
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project, to be changed."""
    left_out = shutil.ignore_patterns("__pycache__", ".*_cache", "*.npz", "generated")
    for name in PARTS:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=left_out)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def insert(copy: Path, file: str, place: str, lines: str) -> None:
    text = (copy / file).read_text(encoding="utf-8")
    assert text.count(place) == 1, f"{file}: {place!r} is there {text.count(place)} times"
    (copy / file).write_text(text.replace(place, lines + place), encoding="utf-8")


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    there = {**environment(), "PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=copy, env=there, capture_output=True, text=True, timeout=900, check=False)


def checked(copy: Path) -> subprocess.CompletedProcess[str]:
    """What tests of the conformance and of completeness say, of the new operation alone where there are many."""
    chosen = ("-k", "quartic or member or table", "-m", "not slow", "-p", "no:cacheprovider", "-x")
    return run(copy, "pytest", "-q", *chosen, *TESTS)


def follow(copy: Path, *, without: str = "") -> None:
    for file, (place, lines) in EDITS.items():
        if file != without:
            insert(copy, file, place, lines)
    if without != PAGE:
        done = run(copy, "tests.docs.operations_table")
        assert done.returncode == 0 or without, done.stderr


def test_the_list_of_files_is_the_one_that_is_followed_here() -> None:
    text = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("### Derived from others\n")[1].split("As the operation asks for it")[0]
    assert re.findall(r"^- `([^`]+)`", section, re.MULTILINE) == [*EDITS, PAGE]
    for file in OWN:
        assert f"`{file}`" in text


def test_an_operation_is_added_by_following_the_list(copy: Path) -> None:
    follow(copy)
    done = checked(copy)
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 100
    for file, (place, lines) in OWN.items():
        insert(copy, file, place, lines)
    assert run(copy, "tests.docs.operations_table").returncode == 0
    assert "| `quartic` | Each element to the fourth power | own | derived | own | derived | own |" in (
        copy / PAGE
    ).read_text(encoding="utf-8")
    done = checked(copy)
    assert done.returncode == 0, done.stdout
    done = run(copy, "mypy", "--cache-dir", str(copy / "cache"), *EDITS, *OWN)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", [*EDITS, PAGE])
def test_a_file_of_the_list_that_is_forgotten_is_missed(copy: Path, file: str) -> None:
    follow(copy, without=file)
    assert checked(copy).returncode in (1, 2)  # a test failed, or could not be collected
