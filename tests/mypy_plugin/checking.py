"""mypy as a user runs it, with moonxi's plugin, on files written for a test."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from textwrap import dedent

from tests.examples.program import CHECKOUT

CONFIGURATION = "[mypy]\nplugins = moonxi.mypy_plugin\nstrict = True\nraise_exceptions = RAISES\n"
DAEMON = ("-m", "mypy.dmypy", "--status-file", "status.json")
WARMING = """
import jaxtyping
import moonxi as mx
from moonxi import data, losses, nn, optim, train
"""


@dataclass(frozen=True)
class Report:
    """What a run of mypy says: each error as ``file:line: [code] message``, and what goes to standard error."""

    errors: list[str]
    notes: list[str]
    stderr: str

    @property
    def brief(self) -> list[str]:
        """The errors without their messages."""
        return [error.partition("]")[0] + "]" for error in self.errors]


@dataclass(frozen=True)
class Project:
    """A folder with files to be checked and a cache of its own."""

    folder: Path

    def write(self, **files: str) -> None:
        """Python files by their names without the ending."""
        for name, text in files.items():
            file = self.folder / f"{name}.py"
            before = file.stat().st_mtime if file.exists() else 0.0
            file.write_text(dedent(text).lstrip(), encoding="utf-8")
            if file.stat().st_mtime - before < 2.0:  # mypy takes an edit within a second, of one size, for none
                os.utime(file, (before + 2.0, before + 2.0))

    def configure(self, *lines: str, plugins: str = "moonxi.mypy_plugin", raises: bool = True) -> None:
        """The configuration file, with further lines; whether mypy stops where the plugin fails."""
        text = CONFIGURATION.replace("moonxi.mypy_plugin", plugins).replace("RAISES", str(raises))
        (self.folder / "mypy.ini").write_text(text + "".join(f"{line}\n" for line in lines), encoding="utf-8")

    def check(self, *options: str) -> Report:
        """Run mypy on all the files."""
        done = self.run(*options)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return read(done.stdout, done.stderr)

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """The same, whatever comes of it."""
        return run("-m", "mypy", "--cache-dir", "cache", *options, *self.files, folder=self.folder)

    def check_cold(self) -> Report:
        """The same by a run that remembers nothing."""
        return self.check("--no-incremental", "--cache-dir", os.devnull)

    def ask_daemon(self) -> Report:
        """The same by mypy's daemon; the fixture ``daemon`` ends it."""
        arguments = ["run", "--timeout", "300", "--", "--cache-dir", "cache", *self.files]
        done = run(*DAEMON, *arguments, folder=self.folder)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return read(done.stdout)

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.py") if not path.name.startswith("plugin_"))


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python on the copy of moonxi under test."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "MYPYPATH": str(CHECKOUT)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def read(out: str, stderr: str = "") -> Report:
    """The lines that mypy prints."""
    errors, notes = list[str](), list[str]()
    for line in out.splitlines():
        place, severity, rest = [*line.split(": ", 2), "", ""][:3]
        if severity == "error":
            message, _, code = rest.rpartition("  [")
            errors.append(f"{place}: [{code} {message}")
        elif severity == "note":
            notes.append(f"{place}: {rest}")
    return Report(errors, notes, stderr)


def warmed(folder: Path) -> Path:
    """A folder with a cache in which moonxi has been checked."""
    project = Project(folder)
    project.configure()
    project.write(warming=WARMING)
    assert project.check() == Report([], [], "")
    return folder / "cache"


def with_cache(folder: Path, cache: Path) -> Project:
    """A new project that starts with the cache of another."""
    copytree(cache, folder / "cache")
    project = Project(folder)
    project.configure()
    return project
