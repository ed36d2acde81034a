"""The script that chooses the interpreter, on a PATH of interpreters made for the test."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "find-python.sh"


class Machine:
    """A folder of interpreters that claim a version, and nothing else on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.pyenv = folder / "pyenv"
        self.bin.mkdir()

    def script(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def python(self, path: Path, version: tuple[int, int], *, without: str = "") -> Path:
        """This test's own interpreter, but of another version, and without one of its modules."""
        pretend = (
            f"import sys; sys.version_info = ({version[0]}, {version[1]}, 0); sys.executable = '{path}'; "
            f"sys.modules.update(dict.fromkeys('{without}'.split())); exec(sys.argv.pop(1))"
        )
        return self.script(path, f'shift\nexec "{sys.executable}" -c "{pretend}" "$@"')

    def find(self, *arguments: str, python: str = "") -> subprocess.CompletedProcess[str]:
        home = self.bin.parent / "home"
        env = {"PATH": str(self.bin), "PYENV_ROOT": str(self.pyenv), "HOME": str(home), "PYTHON": python}
        return subprocess.run([str(SCRIPT), *arguments], env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_newest_supported_python_is_taken(machine: Machine) -> None:
    machine.python(machine.bin / "python3", (3, 12))
    machine.python(machine.bin / "python3.12", (3, 12))
    newest = machine.python(machine.bin / "python3.13", (3, 13))
    assert machine.find().stdout == f"{newest}\n"


def test_a_shim_that_fails_is_passed_over(machine: Machine) -> None:
    machine.script(machine.bin / "python3.13", 'echo "pyenv: python3.13: command not found" >&2; exit 127')
    works = machine.python(machine.bin / "python3.12", (3, 12))
    assert machine.find().stdout == f"{works}\n"


def test_an_older_python3_is_passed_over_for_a_folder_of_pyenv(machine: Machine) -> None:
    machine.python(machine.bin / "python3", (3, 11))
    works = machine.python(machine.pyenv / "versions" / "3.12.1" / "bin" / "python3.12", (3, 12))
    assert machine.find().stdout == f"{works}\n"


def test_pyenv_in_the_home_folder_is_found_without_its_variable(machine: Machine) -> None:
    home = machine.bin.parent / "home"
    works = machine.python(home / ".pyenv" / "versions" / "3.13.0" / "bin" / "python3.13", (3, 13))
    assert machine.find().stdout == f"{works}\n"


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_that_cannot_make_environments_is_passed_over(machine: Machine, module: str) -> None:
    machine.python(machine.bin / "python3.13", (3, 13), without=module)
    works = machine.python(machine.bin / "python3", (3, 12))
    assert machine.find().stdout == f"{works}\n"


def test_a_python_newer_than_the_tested_ones_will_do(machine: Machine) -> None:
    newer = machine.python(machine.bin / "python3", (3, 14))
    assert machine.find().stdout == f"{newer}\n"


def test_an_exact_version_is_not_replaced_by_another(machine: Machine) -> None:
    machine.python(machine.bin / "python3.13", (3, 13))
    exact = machine.python(machine.bin / "python3", (3, 12))
    assert machine.find("3.12").stdout == f"{exact}\n"


def test_no_python_gives_one_line_that_says_what_to_install(machine: Machine) -> None:
    machine.python(machine.bin / "python3", (3, 11))
    found = machine.find()
    assert found.returncode == 1
    assert found.stdout == ""
    assert found.stderr == (
        "moonxi: no Python 3.12 or newer found: install one with venv (apt install python3 python3-venv, "
        "brew install python, pyenv install 3.13), or name it: make PYTHON=/path/to/python3\n"
    )


def test_a_missing_exact_version_is_named(machine: Machine) -> None:
    machine.python(machine.bin / "python3", (3, 13))
    found = machine.find("3.12")
    assert found.returncode == 1
    assert found.stderr.startswith("moonxi: no Python 3.12 found: install one")


def test_the_named_python_is_the_only_candidate(machine: Machine) -> None:
    machine.python(machine.bin / "python3.13", (3, 13))
    named = machine.python(machine.bin / "mine", (3, 12))
    assert machine.find(python=str(named)).stdout == f"{named}\n"


def test_a_named_python_that_will_not_do_is_an_error(machine: Machine) -> None:
    machine.python(machine.bin / "python3.13", (3, 13))
    old = machine.python(machine.bin / "old", (3, 11))
    found = machine.find(python=str(old))
    assert found.returncode == 1
    assert found.stderr == (f"moonxi: PYTHON={old} is not a Python 3.12 or newer with its modules venv and ensurepip\n")
