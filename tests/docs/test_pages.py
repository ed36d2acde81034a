"""The pages: their links lead somewhere, and their programs are right and run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.program import CHECKOUT, environment

PAGES = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md"), CHECKOUT / "benchmarks" / "README.md"]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`((?:moonxi|docs|tests|examples|benchmarks|typecheck_tests|stubs|\.ci)/[\w/.-]+|\.ci/run)`")


def anchors(page: Path) -> set[str]:
    """The names under which a page's sections can be linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(file), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_path_that_is_named_exists(page: Path) -> None:
    missing = [name for name in PATH.findall(page.read_text(encoding="utf-8")) if not (CHECKOUT / name).exists()]
    assert missing == []


def test_every_page_with_programs_has_a_test() -> None:
    tests = "".join(file.read_text(encoding="utf-8") for file in (CHECKOUT / "tests").rglob("test_*.py"))
    untested = [
        page.name for page in PAGES if PYTHON.search(page.read_text(encoding="utf-8")) and page.name not in tests
    ]
    assert untested == []


def test_the_readme_shows_every_page_of_the_docs() -> None:
    missing = [page.name for page in CHECKOUT.glob("docs/*.md") if f"(docs/{page.name})" not in README]
    assert missing == []


def test_the_example_of_the_readme_trains() -> None:
    [program] = PYTHON.findall(README)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"\{'loss': ([\d.]+)\}", done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) < 0.5


def test_the_program_of_gpu_md_runs_or_says_what_is_missing() -> None:
    program = "".join(PYTHON.findall((CHECKOUT / "docs" / "gpu.md").read_text(encoding="utf-8")))
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        assert "moonxi.errors.DeviceError: GpuTensor: " in done.stderr.splitlines()[-1]
