"""The programs of docs/how-compile-works.md run, and mypy finds nothing in them."""

import re
import subprocess
import sys
from pathlib import Path

from tests.examples.program import CHECKOUT, environment

PAGE = CHECKOUT / "docs" / "how-compile-works.md"
PROGRAM = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def test_the_programs_of_the_page_run_and_print_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text(PROGRAM)
    done = subprocess.run([sys.executable, file], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report, *_ = done.stdout.splitlines()
    assert report.startswith("trace 1: ")
    assert "matmul(" in done.stdout
    assert re.search(rf"{file}:\d+ backward$", done.stdout, re.MULTILINE)
    assert re.search(rf"^item: TracedTensor .* \(made at {file}:\d+\): at {file}:\d+ ", done.stdout, re.MULTILINE)
