"""What compiling makes of training steps for the GPU: three graphs are those that are stored, every source compiles."""

import subprocess
import sys
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.backends.on_host import kernels
from tests.backends.test_gpu_sources import ARCHITECTURES, compiled, nvrtc_is_missing

CHECKOUT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("graphs")
NAMES = sorted(file.stem for file in FOLDER.glob("*.txt"))
RENEW = "python -m tests.backends.gpu_graphs"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(kernels.compiler() is None, reason="no C++ compiler: install g++"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graphs and sources of now, in a process of its own: the kernels run on the host there."""
    folder = tmp_path_factory.mktemp("graphs")
    command = [sys.executable, "-m", "tests.backends.gpu_graphs", str(folder)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_there_are_graphs_of_three_models() -> None:
    assert NAMES == ["mlp", "residual", "transformer"]


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_does_not_change_unnoticed(made: Path, name: str) -> None:
    before, now = ((folder / f"{name}.txt").read_text().splitlines() for folder in (FOLDER, made))
    changed = "\n".join(list(unified_diff(before, now, "stored", "now", lineterm="", n=1))[:60])
    assert before == now, f"the graph of {name} is another one; if that is meant, renew it: {RENEW}\n{changed}"


@nvrtc_is_missing
def test_the_sources_generated_for_every_example_compile(made: Path) -> None:
    files = sorted(made.glob("*.cu"))
    assert len(files) > 20
    for file in files:
        head, code = file.read_text().split("\n", 1)
        assert "#include" not in code
        for architecture in ARCHITECTURES:
            assert compiled(code, architecture, tuple(head.removeprefix("// ").split())) == "", file.name
