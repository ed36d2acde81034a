"""The guides: their programs run, as one, and print what the pages say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.program import CHECKOUT, environment

GUIDES = (
    "first-ten-minutes.md",
    "coming-from-pytorch.md",
    "traits-and-interpreters.md",
    "from-linear-regression-to-resnet.md",
)


def program(page: str) -> str:
    """The blocks of a page, one after the other."""
    text = (CHECKOUT / "docs" / page).read_text(encoding="utf-8")
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def run(folder: Path, page: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program(page)],
        env=environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("page", GUIDES)
def test_the_program_of_a_guide_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    out = run(tmp_path, page)
    text = (CHECKOUT / "docs" / page).read_text(encoding="utf-8")
    for told in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        lines = told.splitlines()
        assert lines in [out[at : at + len(lines)] for at in range(len(out))], out
    assert not [line for line in out if "False" in line]


def test_the_first_program_goes_on_when_it_is_started_again(tmp_path: Path) -> None:
    first = run(tmp_path, "first-ten-minutes.md")
    again = run(tmp_path, "first-ten-minutes.md")
    assert [line for line in first if line.startswith("epoch 20/20")]
    assert "resumed from run/step-000000300.json: epoch 20, the last, is done" in again
    assert not [line for line in again if line.startswith("epoch ")]
    assert {"flowers.safetensors", "curves.png", "run"} <= {one.name for one in tmp_path.iterdir()}


def test_the_table_of_interpreters_names_the_classes_that_there_are() -> None:
    import moonxi as mx

    text = (CHECKOUT / "docs" / "traits-and-interpreters.md").read_text(encoding="utf-8")
    for name in ("Tensor", "BlasTensor", "ImageTensor"):
        [row] = re.findall(rf"^\| `{name}`[^|]*\|(.*)$", text, re.MULTILINE)
        for cls in re.findall(r"`(\w+)", row):
            assert isinstance(getattr(mx, cls), type), (name, cls)
