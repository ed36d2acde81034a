"""The page on data.md: its programs, one after the other, print what it says."""

import re
import subprocess
import sys
from pathlib import Path

from tests.examples.program import CHECKOUT, environment

PAGE = (CHECKOUT / "docs" / "data.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_programs_print_what_the_page_says(tmp_path: Path) -> None:
    assert [language for language, _ in BLOCKS] == ["python", "console"] * 9
    program = "\n".join(text for language, text in BLOCKS if language == "python")
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(text for language, text in BLOCKS if language == "console")
