"""The page on differentiation: its programs, one after another, print what it says."""

import re
import subprocess
import sys

from tests.examples.program import CHECKOUT, environment

PAGE = (CHECKOUT / "docs" / "differentiation.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_programs_print_what_is_shown() -> None:
    assert [language for language, _ in BLOCKS] == ["python", "console"] * (len(BLOCKS) // 2)
    program = "\nprint('-' * 9)\n".join(block for language, block in BLOCKS if language == "python")
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split("-" * 9 + "\n") == [block for language, block in BLOCKS if language == "console"]


def test_every_transformation_is_on_the_page() -> None:
    for name in ("grad", "vjp", "jvp", "hvp", "jacobian", "hessian", "per_example_grad", "checkpoint", "custom_vjp"):
        assert f"`{name}(f" in PAGE or f"`{name}(forward" in PAGE, name
