"""The wheel as a user gets it: built, installed outside the checkout without cupy, and put to work there."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
GATED = CHECKOUT / "examples" / "gated_project"
# What only an extra brings. The plugin is loaded by mypy, so it may import mypy; the others are loaded with Numba.
NEEDS_AN_EXTRA = ("moonxi.mypy_plugin", "moonxi.backends.numpy.jit.")
IMPORT_EVERYTHING = f"""
import importlib, pkgutil, sysconfig, moonxi
assert moonxi.__file__.startswith(sysconfig.get_path("purelib")), moonxi.__file__
assert importlib.util.find_spec("cupy") is None
names = [module.name for module in pkgutil.walk_packages(moonxi.__path__, "moonxi.", onerror=lambda name: None)]
for name in names:
    if not name.startswith({NEEDS_AN_EXTRA}) and not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""


def run(*command: str | Path, folder: Path) -> str:
    """Output of a command that succeeds, run in ``folder`` with nothing of the checkout on its path."""
    env = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def environment(folder: Path, *requirements: str) -> Path:
    """The interpreter of a new environment that holds what is required."""
    run(sys.executable, "-m", "venv", folder, folder=folder.parent)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", *requirements, folder=folder)
    return python


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the source distribution, so that both are complete."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, CHECKOUT, folder=folder)
    [built] = folder.glob("moonxi-*.whl")
    return built


@pytest.fixture(scope="module")
def bare_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and its normal dependencies."""
    return environment(tmp_path_factory.mktemp("bare") / "env", str(wheel))


@pytest.fixture(scope="module")
def checking_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, what it shows pictures with, and the tools of the gated project."""
    tools = [line for line in (GATED / "requirements.txt").read_text().split() if line != "moonxi"]
    return environment(tmp_path_factory.mktemp("checking") / "env", f"{wheel}[images,plot,progress]", *tools)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    package = {
        path.relative_to(CHECKOUT).as_posix()
        for path in (CHECKOUT / "moonxi").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(f"moonxi-{version}.dist-info/")}
    assert names == package
    assert "moonxi/py.typed" in names
    assert any(name.startswith("moonxi/data/mnist_subset/") for name in names)


def test_the_wheel_carries_both_licences(wheel: Path) -> None:
    licences = {name.rpartition("/licenses/")[2] for name in zipfile.ZipFile(wheel).namelist() if "/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}


def test_the_wheel_is_under_four_megabytes(wheel: Path) -> None:
    assert wheel.stat().st_size < 4_000_000


def test_every_module_imports_from_the_wheel_without_an_extra(bare_python: Path, tmp_path: Path) -> None:
    assert int(run(bare_python, "-c", IMPORT_EVERYTHING, folder=tmp_path)) > 10


def test_the_wheel_installs_the_command(bare_python: Path, tmp_path: Path) -> None:
    assert run(bare_python.with_name("moonxi"), "--version", folder=tmp_path).startswith("moonxi ")


def test_mnist_trains_from_the_wheel_without_an_extra(bare_python: Path, tmp_path: Path) -> None:
    shutil.copy(CHECKOUT / "examples" / "mnist.py", tmp_path)
    assert "test accuracy: 0.9" in run(bare_python, "mnist.py", folder=tmp_path)


def test_the_must_fail_suite_passes_against_the_wheel_without_cupy(checking_python: Path, tmp_path: Path) -> None:
    suite = tmp_path / "typecheck_tests"
    shutil.copytree(CHECKOUT / "typecheck_tests", suite, ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
    run(checking_python, "-c", "import importlib.util as u; assert u.find_spec('cupy') is None", folder=tmp_path)
    run(checking_python, suite / "run.py", folder=tmp_path)


FAULTS = {
    "a mean over the wrong axis": (
        "return x - x.mean(1, keepdims=True)",
        "return x - x.mean(1)",
        r"digits\.py:{line}: error: subtract: .*  \[tensor-shape\]",
    ),
    "probabilities in place of logits": (
        "return cross_entropy(logits, batch.labels)",
        "return cross_entropy(logits.probs(), batch.labels)",
        r'digits\.py:{line}: error: Argument 1 to "cross_entropy" has incompatible type "Probs\[T\]"; .*  \[arg-type\]',
    ),
}


def git(folder: Path, *arguments: str, python: Path) -> subprocess.CompletedProcess[str]:
    """Git in a repository, with the tools of an environment and none of this machine's settings."""
    settings = ("user.name=a", "user.email=a@example.org", "commit.gpgsign=false", "init.defaultBranch=main")
    options = [part for one in settings for part in ("-c", one)]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHONPATH"))}
    env |= {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(folder.parent / "hooks"),
    }
    env["PATH"] = f"{python.parent}{os.pathsep}{env['PATH']}"
    command = ["git", *options, *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def gated(checking_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The gated project as a repository of its own, with its hook installed and its first commit made."""
    folder = tmp_path_factory.mktemp("gated") / "project"
    shutil.copytree(GATED, folder, ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
    (folder / ".gitignore").write_text(".mypy_cache/\n__pycache__/\n")
    assert git(folder, "init", "--quiet", python=checking_python).returncode == 0
    run(checking_python.with_name("pre-commit"), "install", folder=folder)
    git(folder, "add", "--all", python=checking_python)
    first = git(folder, "commit", "-m", "A classifier of digits", python=checking_python)
    assert first.returncode == 0, first.stdout + first.stderr
    return folder


def test_the_gates_of_the_gated_project_let_the_right_commit_through(gated: Path, checking_python: Path) -> None:
    steps = re.findall(r"- run: python (.*)", (gated / ".github" / "workflows" / "check.yml").read_text())
    assert steps[0] == "-m pip install -r requirements.txt"
    printed = [run(checking_python, *step.split(), folder=gated) for step in steps[1:]]
    assert "Success: no issues found" in printed[0]
    assert printed[1].startswith("0 errors, 3 functions checked")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_commit_to_the_gated_project_is_rejected(gated: Path, checking_python: Path, fault: str) -> None:
    right, wrong, error = FAULTS[fault]
    program = gated / "digits.py"
    before = program.read_text()
    assert before.count(right) == 1
    program.write_text(before.replace(right, wrong))
    line = before[: before.index(right)].count("\n") + 1
    head = git(gated, "rev-parse", "HEAD", python=checking_python).stdout
    try:
        git(gated, "add", "digits.py", python=checking_python)
        commit = git(gated, "commit", "-m", "A fault", python=checking_python)
    finally:
        program.write_text(before)
        git(gated, "add", "digits.py", python=checking_python)
    assert commit.returncode != 0
    assert re.search(error.format(line=line), commit.stdout + commit.stderr), commit.stdout + commit.stderr
    assert git(gated, "rev-parse", "HEAD", python=checking_python).stdout == head
    if fault == "a mean over the wrong axis":
        page = (CHECKOUT / "docs" / "gating-ci.md").read_text().split("```console\n")[1].split("```")[0]
        assert [
            line for line in page.splitlines()[1:] if line not in (commit.stdout + commit.stderr).splitlines()
        ] == []
