"""The page on checking shapes: its programs run, and print what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from moonxi.cli import main
from tests.examples.program import CHECKOUT, environment

PAGE = (CHECKOUT / "docs" / "checking-shapes.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_checked_file_and_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (_, program), (_, session) = BLOCKS[:2]
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "net.py"
    file.write_text(program, encoding="utf-8")
    command, report = session.split("\n", 1)
    assert command == "$ moonxi check net.py"
    assert main(["check", "net.py"]) == 1
    assert capsys.readouterr().out == report
    file.write_text(program.replace("h.reshape((h.shape[0], -1))", "h.mean((2, 3))"), encoding="utf-8")
    assert main(["check", "net.py"]) == 0
    assert capsys.readouterr().out == "0 errors, 2 functions checked\n"


def test_the_program_by_hand() -> None:
    (_, program), (_, output) = BLOCKS[2:4]
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == output


@pytest.mark.parametrize("part", ["class Glu", "def merged"])
def test_the_programs_with_expressions(part: str) -> None:
    at = next(place for place, (_, text) in enumerate(BLOCKS) if part in text)
    (_, program), (_, output) = BLOCKS[at : at + 2]
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == output


def test_the_operations_of_ones_own_run() -> None:
    [program] = [text for kind, text in BLOCKS if kind == "python" and "def halves" in text]
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "(2, 3, 4) (2, 3)\n"


def test_the_annotations_of_the_page_pass_and_others_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = next(text for _, text in BLOCKS if "def merged" in text)
    file = tmp_path / "sizes.py"
    file.write_text(program, encoding="utf-8")
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == "0 errors, 5 functions checked\n"
    for right, wrong in (
        ("batch 2*c (h-1)//2+1", "batch 2*c h//2+1"),
        ("batch c*(h//2)*(w//2)", "batch c*(h//2)*w"),
        ("batch c 2*h 2*w", "batch c 2*h w"),
        ("batch time heads*d", "batch time heads+d"),
    ):
        file.write_text(program.replace(f'-> Float[T, "{right}', f'-> Float[T, "{wrong}'), encoding="utf-8")
        assert main(["check", str(file)]) == 1, wrong
