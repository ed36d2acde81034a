"""docs/how-compile-works.md with what its programs print: each ``text`` block is the output of the program before it.

``python -m tests.compiled.page`` writes the page anew, after a change of what is printed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.examples.program import CHECKOUT, environment

PAGE = CHECKOUT / "docs" / "how-compile-works.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$(\n\n```text\n.*?^```$)?", re.MULTILINE | re.DOTALL)
_END = "-- end of a program --"


def program() -> str:
    """All programs of the page, one after the other."""
    return "\n".join(block[1] for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")))


def written(folder: Path) -> str:
    """The page with the output of its programs, which run in a folder as one file, page.py."""
    page = PAGE.read_text(encoding="utf-8")
    blocks = [*_BLOCK.finditer(page)]
    file = folder / "page.py"
    file.write_text("".join(f"{block[1]}print({_END!r})\n" for block in blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, file], env=environment(), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outputs = iter(done.stdout.replace(f"{file}:", "page.py:").split(f"{_END}\n"))

    def filled(block: re.Match[str]) -> str:
        output = next(outputs)
        return f"```python\n{block[1]}```" + (f"\n\n```text\n{output}```" if block[2] else "")

    return _BLOCK.sub(filled, page)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(written(Path(folder).resolve()), encoding="utf-8")
