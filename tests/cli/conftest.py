"""Small files to check."""

from pathlib import Path
from textwrap import dedent

import pytest

from moonxi.cli import main
from tests.cli.snippets import HEAD, LINES, Check


@pytest.fixture(name="check")
def _check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Check a file with this text: the exit status and the lines printed, numbered as in the text."""

    def run(text: str) -> tuple[int, list[str]]:
        file = tmp_path / "code.py"
        file.write_text(HEAD + dedent(text), encoding="utf-8")
        status = main(["check", str(file)])
        lines = capsys.readouterr().out.splitlines()
        for number in range(100, 0, -1):
            lines = [line.replace(f"{file}:{number + LINES}:", f"{number}:") for line in lines]
        return status, [line.replace(str(file), "FILE") for line in lines]

    return run
