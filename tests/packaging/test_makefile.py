"""The README's commands in a copy of the checkout, as on a new user's machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
# A make that runs these tests hands its own variables on to the make inside them.
OF_THE_OUTER_MAKE = {"MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", "PYTHON", "VENV", "ARGS", "JOBS"}


def make(*arguments: str, folder: Path = CHECKOUT, path: str = os.environ["PATH"]) -> str:
    env = {name: value for name, value in os.environ.items() if name not in OF_THE_OUTER_MAKE} | {"PATH": path}
    done = subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what ``make mnist`` needs, in a folder whose name has a space."""
    copy = tmp_path / "a copy"
    copy.mkdir()
    for name in ["Makefile", "pyproject.toml", "README.md", "LICENSE", "NOTICE", "CHANGELOG.md"]:
        shutil.copy(CHECKOUT / name, copy)
    for name in ["moonxi", "examples", ".ci"]:
        shutil.copytree(CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_make_alone_names_the_targets() -> None:
    text = make()
    targets = ["mnist", "test", "test-slow", "benchmark-mlp", "benchmark-resnet", "lint", "clean"]
    assert [target for target in targets if f"make {target} " not in text] == []


def test_make_test_runs_ruff_mypy_the_must_fail_suite_and_pytest() -> None:
    text = make("--dry-run", "test")
    steps = ["ruff check", "ruff format --check", "-m mypy", "typecheck_tests/run.py", "-m pytest"]
    assert [step for step in steps if step not in text] == []


def test_a_named_python_gets_an_environment_of_its_own() -> None:
    text = make("--dry-run", "mnist", f"PYTHON={sys.executable}")
    assert f".venv-{Path(sys.executable).name}/bin/python examples/mnist.py" in text


@pytest.mark.slow
def test_make_mnist_installs_once_in_each_checkout_also_where_python3_is_too_old(
    checkout: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    (old / "python3").write_text("#!/bin/sh\nexit 1\n")
    (old / "python3").chmod(0o755)
    path = f"{old}:{os.environ['PATH']}"

    first = make("mnist", folder=checkout, path=path)
    assert "Creating .venv with" in first
    assert "test accuracy: 0.9" in first

    second = make("mnist", folder=checkout, path=path)
    assert "Creating" not in second
    assert "Installing" not in second
    assert "test accuracy: 0.9" in second

    (checkout / "examples" / "mnist.py").write_text("import moonxi\n\nprint(moonxi.__file__)\n")
    copy = checkout.with_name("another copy")
    shutil.copytree(checkout, copy, symlinks=True)
    # Not that of the old place, which the copied environment has.
    assert str(copy / "moonxi" / "__init__.py") in make("mnist", folder=copy)
