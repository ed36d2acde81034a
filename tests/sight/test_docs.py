"""The page on seeing a run: its program runs and leaves what it says."""

import re
import subprocess
import sys
from pathlib import Path

from moonxi import sight
from tests.examples.program import CHECKOUT, environment

PAGE = (CHECKOUT / "docs" / "seeing-a-run.md").read_text(encoding="utf-8")


def test_the_program_of_the_page_leaves_its_pictures(tmp_path: Path) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {one.name for one in tmp_path.iterdir()} == {"events", "curves.svg", "report.html", "confusion.png"}
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("<img ") == 24


def test_the_page_names_all_there_is() -> None:
    assert [name for name in sight.__all__ if name not in PAGE] == []
