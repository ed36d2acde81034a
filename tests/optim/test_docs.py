"""The page on optimizers: its programs run one after the other, and print what it says."""

import re
import subprocess
import sys

from moonxi import optim
from tests.examples.program import CHECKOUT, environment

PAGE = (CHECKOUT / "docs" / "optimizers.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PROGRAM = "\n".join(text for kind, text in BLOCKS if kind == "python")
SHOWN = "".join(text for kind, text in BLOCKS if kind == "console")


def test_the_programs_print_what_the_page_shows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == SHOWN


def test_the_page_names_every_optimizer() -> None:
    for name in optim.__all__:
        one = getattr(optim, name)
        if isinstance(one, type) and hasattr(one, "update") and not hasattr(one, "averaged"):
            abstract = getattr(one, "__abstractmethods__", ()) or getattr(one, "_is_protocol", False)
            assert abstract or f"`{name}" in PAGE, name
